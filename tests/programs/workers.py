"""Three worker threads, and a place to stop where all of them are at work."""

import threading
import time


def work(name):
    while not done.is_set():
        time.sleep(0.01)


done = threading.Event()
threads = [threading.Thread(target=work, args=(f"w{n}",), name=f"worker-{n}", daemon=True) for n in range(3)]
for thread in threads:
    thread.start()
for turn in range(1000):
    time.sleep(0.05)  # while they work
done.set()
