from concurrent.futures import ThreadPoolExecutor, as_completed
from threading import Event

ready = {name: Event() for name in ("cat", "dog", "emu")}


def thumb(name):
    if name != "emu":
        ready["emu"].wait(5)
    if name == "cat":
        ready["dog"].wait(5)
    ready[name].set()
    return f"{name}-64.png"


def make(names):
    made = []
    with ThreadPoolExecutor(3) as pool:
        futures = [pool.submit(thumb, name) for name in names]
        for future in as_completed(futures):  # CAUSE
            made.append(future.result())
    return made


def sheet(names):
    pictures = make(names)
    return {name: picture for name, picture in zip(names, pictures)}


page = sheet(["cat", "dog", "emu"])
assert page["cat"] == "cat-64.png"
