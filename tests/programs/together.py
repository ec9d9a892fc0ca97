import threading

meet = threading.Barrier(3)


def work():
    meet.wait()
    return 1  # together


workers = [threading.Thread(target=work, name=f"W{number}") for number in range(3)]
for worker in workers:
    worker.start()
for worker in workers:
    worker.join()
