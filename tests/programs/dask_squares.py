"""Squares, each by a worker process of Dask, which first runs the line of Python in DIAL_IN."""

import os

from dask.distributed import Client, LocalCluster


def square(number):
    exec(os.environ["DIAL_IN"])
    squared = number * number
    return squared


if __name__ == "__main__":
    # Of a function of `__main__` the workers get a copy without its file, from cloudpickle 3.1.3 on.
    from dask_squares import square

    cluster = LocalCluster(n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address=None)
    client = Client(cluster)
    workers = sorted(client.scheduler_info()["workers"])
    print(client.gather([client.submit(square, n, workers=[each]) for n, each in enumerate(workers, 3)]), flush=True)
    os._exit(0)  # the workers end with it. Closing a cluster fails where the worker processes take over 4 s to exit.
