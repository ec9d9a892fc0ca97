from concurrent.futures import ThreadPoolExecutor, as_completed
from threading import Event

shown = Event()


def thumb(name):
    if name == "cat":
        shown.wait()
    return f"{name}-64.png"


def make(names):
    made = []
    with ThreadPoolExecutor(3) as pool:
        futures = [pool.submit(thumb, name) for name in names]
        for future in as_completed(futures):  # CAUSE
            made.append(future.result())
            shown.set()
    return made


def sheet(names):
    pictures = make(names)
    return {name: picture for name, picture in zip(names, pictures)}


page = sheet(["cat", "dog", "emu"])
assert page["cat"] == "cat-64.png"
