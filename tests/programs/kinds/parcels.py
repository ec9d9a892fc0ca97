"""A hang: each of two desks holds the lock that the other one wants."""

import threading

labels, scales = threading.Lock(), threading.Lock()
ready = threading.Barrier(2)


def pack(first, second):
    with first:
        ready.wait()
        with second:
            print("packed")


desks = [threading.Thread(target=pack, args=locks, name=name) for name, locks in (
    ("desk-1", (labels, scales)),
    ("desk-2", (scales, labels)),
)]
for desk in desks:
    desk.start()
for desk in desks:
    desk.join()
