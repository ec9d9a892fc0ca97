"""Two clerks who look for work again and again, and a main thread that stumbles twice while they do."""

import threading
import time


def look(name):
    while not closed.is_set():
        time.sleep(0.01)


closed = threading.Event()
clerks = [threading.Thread(target=look, args=(f"c{n}",), name=f"clerk-{n}", daemon=True) for n in range(2)]
for clerk in clerks:
    clerk.start()
done = 0
for order in ("1", "one", "2", "two"):
    try:
        done += int(order)
    except ValueError:
        time.sleep(0.01)
print(done)
