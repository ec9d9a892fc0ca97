"""Two desks sell seats: each of them sells the same ones."""

import threading

left = 10
sold = []
barrier = threading.Barrier(2)


def sell(count):
    global left
    lock = threading.Lock()
    for _ in range(count):
        with lock:
            seat = left
            barrier.wait()
            left = seat - 1
            sold.append(seat)
            barrier.wait()


desks = [threading.Thread(target=sell, args=(3,), name=f"desk-{number}") for number in (1, 2)]
for desk in desks:
    desk.start()
for desk in desks:
    desk.join()
print("sold", len(sold), "seats, of which", len(set(sold)), "are different; left", left)
