r"""The client of a cluster, for a hunt: runs by itself in a Python that has `distributed` or `ray`, 3.8 or newer.

    python cluster_client.py dask tcp://10.0.0.7:8786 4 /tmp/hunt-1

Standard input has a try a line, as JSON, and `\n`; each comes back as a line on standard output when it is over. At
the end of standard input all is ended. A third word `-` is a cluster that is made for this hunt alone.
"""

import json
import os
import sys
import threading
from importlib import import_module
from typing import Any

CONNECT_SECONDS = 15

TOLD = threading.Lock()


def tell(channel: Any, message: Any) -> None:
    """Write one line."""
    with TOLD:
        channel.write((json.dumps(message) + "\n").encode())
        channel.flush()


class DaskCluster:
    """Dask: a scheduler that is there, or one with workers of our own."""

    needs = "distributed"

    def __init__(self, address: Any, parallel: Any, scratch: Any) -> None:
        distributed: Any = import_module("distributed")

        self._made = None
        if address is None:
            self._made = distributed.LocalCluster(
                n_workers=parallel,
                threads_per_worker=1,
                host="127.0.0.1",
                dashboard_address=None,
                local_directory=scratch,
                silence_logs=50,
            )
        self._client = distributed.Client(self._made or address, timeout=CONNECT_SECONDS, set_as_default=False)
        self.slots = min(parallel, max(1, sum(self._client.ncores().values())))
        if address is not None and not self._client.ncores():
            raise RuntimeError("the scheduler has no workers")

    def run(self, text: Any, wanted: Any) -> Any:
        """Run a try on a worker; return what it came to, and which one it was."""
        future = self._client.submit(eval, _ON_WORKER, {"text": text, "wanted": wanted}, pure=False, retries=0)
        return future.result()

    def close(self) -> None:
        """Leave the cluster; one of our own ends."""
        self._client.close(timeout=2)
        if self._made is not None:
            self._made.close(timeout=2)


_ON_WORKER = "[names := {'__name__': 'try_worker'}, exec(text, names), names['on_dask'](wanted)][2]"
"""What Dask is sent, as builtins alone: so the workers may run on another Python, and need nothing of ours."""

ON_DASK = """
def on_dask(wanted):
    from distributed import get_worker
    worker = get_worker()
    key = worker.get_current_task()
    def is_cancelled():
        task = worker.state.tasks.get(key)
        return task is None or task.state not in ("executing", "long-running")
    came = run_try(wanted, is_cancelled, worker.local_directory)
    came["answer"]["worker"] = worker.address
    return came
"""

ON_RAY = """
def on_ray(wanted):
    import socket
    came = run_try(wanted, lambda: False)
    came["answer"]["worker"] = socket.gethostname()
    return came
"""


class RayCluster:
    """Ray: a cluster that is there, or one of our own."""

    needs = "ray"

    def __init__(self, address: Any, parallel: Any, scratch: Any) -> None:
        ray: Any = import_module("ray")

        self._ray = ray
        own = {} if address is not None else {"num_cpus": parallel, "include_dashboard": False}
        ray.init(address=address or "local", log_to_driver=False, **own)
        self.slots = min(parallel, max(1, int(ray.cluster_resources().get("CPU", 1))))

        def on_worker(text: Any, wanted: Any) -> Any:
            names: Any = {"__name__": "try_worker"}
            exec(text, names)
            return names["on_ray"](wanted)

        self._remote = ray.remote(num_cpus=1, max_retries=0)(on_worker)

    def run(self, text: Any, wanted: Any) -> Any:
        """Run a try on a worker; return what it came to."""
        return self._ray.get(self._remote.remote(text, wanted))

    def close(self) -> None:
        """Leave the cluster, which ends the tries that are under way: their keepers notice."""
        self._ray.shutdown()


CLUSTERS: Any = {"dask": (DaskCluster, ON_DASK), "ray": (RayCluster, ON_RAY)}


def serve(cluster: Any, text: Any, channel: Any) -> None:
    """Serve tries until standard input ends."""

    def one(line: Any) -> None:
        wanted = json.loads(line)
        number, bring = wanted.pop("number"), wanted.pop("bring")
        try:
            came = cluster.run(text, wanted)
            if came["record"] is not None:
                with open(bring, "wb") as file:
                    file.write(came["record"])
            tell(channel, {"number": number, "answer": came["answer"]})
        except Exception as error:  # noqa: BLE001 (whatever a worker comes to is the answer)
            tell(channel, {"number": number, "answer": {"refused": f"{type(error).__name__}: {error}"}})

    for line in sys.stdin.buffer:
        threading.Thread(target=one, args=(line,), daemon=True).start()


def main() -> None:
    """Connect, serve, and leave nothing."""
    engine, address, parallel, scratch = sys.argv[1:]
    channel = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints is not an answer
    kind, own = CLUSTERS[engine]
    os.environ["DASK_TEMPORARY_DIRECTORY"] = scratch
    try:
        import_module(kind.needs)
    except ImportError:
        tell(channel, {"missing": kind.needs})
        return
    try:
        cluster = kind(None if address == "-" else address, int(parallel), scratch)
    except Exception as error:  # noqa: BLE001 (the cluster's own, of any type)
        tell(channel, {"failed": f"{type(error).__name__}: {error}"})
        os._exit(1)
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "cluster_worker.py"), encoding="utf-8") as file:
        text = file.read() + own
    tell(channel, {"slots": cluster.slots})
    serve(cluster, text, channel)
    try:
        cluster.close()
    finally:
        os._exit(0)


if __name__ == "__main__":
    main()
