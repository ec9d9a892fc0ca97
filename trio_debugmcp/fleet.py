"""The workers of a Dask or Ray cluster dial in to `debug_listen`, and are left again: one call each.

    from trio_debugmcp.fleet import dial_in_dask, leave_dask

    dial_in_dask(client, "10.0.0.7:5678", token)        # address and token are in the answer of debug_listen
    leave_dask(client)

What runs in a worker names nothing of this package, so that it is sent there whole: workers need not have it. Dask and
Ray are imported when one of them is asked for, and are those of the caller.
"""

import re
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

from trio_debugmcp.engine.fetched import fetching_line

__all__ = ["dial_in_dask", "dial_in_ray", "leave_dask", "leave_ray", "ray_runtime_env"]

PLUGIN = "trio_debugmcp"
"""The name of our plugin among those of Dask's workers."""

_ADDRESS = re.compile(r"\[?(?P<host>[^\[\]]+?)\]?:(?P<port>\d+)")

_EVERY_ADDRESS = ("0.0.0.0", "::")

InWorker = Callable[..., Any]
"""What is sent to a worker; it takes whatever it is called with there."""


def dial_in_dask(client: Any, address: str, token: str, *, pin: str = "") -> dict[str, str]:
    """Have all workers of a Dask cluster dial in, and those that come later.

    Args:
        client: a `distributed.Client`, of a `LocalCluster` or of a scheduler by its address.
        address: `HOST:PORT` as the workers reach it, of the answer of `debug_listen`.
        token: the one of that answer.
        pin: the one of that answer, with `tls`.

    Returns:
        By the workers' addresses, why they are not debugged; empty for those that are. All of them work on.

    Raises:
        ValueError: the address is not HOST:PORT, or a worker cannot dial it.
        TypeError: the client is an asynchronous one.
    """
    dial_in = _dialing_in(address, token, pin)
    _refuse_asynchronous(client)
    client.register_plugin(_dask_plugin(dial_in, _leaving(address)), PLUGIN)
    return dict(client.run(_outcome(PLUGIN)))


def leave_dask(client: Any) -> None:
    """Take it back: all workers run on without a debugger, and those that come later do not dial in."""
    _refuse_asynchronous(client)
    client.unregister_worker_plugin(PLUGIN)


def ray_runtime_env(address: str, token: str, *, pin: str = "") -> dict[str, Any]:
    """Return what has all workers of a Ray program dial in: `ray.init(runtime_env=ray_runtime_env(address, token))`.

    Other entries of a runtime environment may stand beside it. A worker that cannot dial in says so in its log, and
    works on. `debug_disconnect` takes it back: workers that come later find no debugger then.
    """
    return {"worker_process_setup_hook": _dialing_in(address, token, pin)}


def dial_in_ray(actors: Sequence[Any], address: str, token: str, *, pin: str = "") -> list[str]:
    """Have the processes of Ray actors that are there already dial in; those that are busy are waited for.

    Returns:
        For each actor why it is not debugged; empty for one that is. All of them work on.
    """
    return _on_actors(actors, _dialing_in(address, token, pin))


def leave_ray(actors: Sequence[Any], address: str) -> None:
    """Take it back: the processes of these actors run on without a debugger."""
    _on_actors(actors, _leaving(address))


def _on_actors(actors: Sequence[Any], call: InWorker) -> list[Any]:
    ray: Any = import_module("ray")
    return list(ray.get([actor.__ray_call__.remote(call) for actor in actors]))


def _refuse_asynchronous(client: Any) -> None:
    if client.asynchronous:
        raise TypeError(
            "This client is asynchronous, and this call waits for the workers: make one with Client(address) in a "
            "thread or a program of its own, which may be connected to the same scheduler."
        )


def _parted(address: str) -> tuple[str, int]:
    found = _ADDRESS.fullmatch(address)
    if found is None:
        raise ValueError(f"{address!r} is not an address: pass HOST:PORT, which debug_listen has answered.")
    if found["host"] in _EVERY_ADDRESS:
        raise ValueError(f"{address!r} is every address of one machine: pass the one at which the workers reach it.")
    return found["host"], int(found["port"])


# --- What is sent to a worker -----------------------------------------------------------------------------------------


def _dialing_in(address: str, token: str, pin: str) -> InWorker:
    """Return a function that dials in, and returns why it could not; nothing of what it fails by is raised there."""
    line = fetching_line(*_parted(address), token, pin)

    def dial_in(*_: Any) -> str:
        try:
            exec(line, {})
        except Exception as error:  # noqa: BLE001 (of a worker that comes later it would end the start)
            from logging import getLogger

            problem = f"{type(error).__name__}: {error}"
            getLogger("trio_debugmcp").warning("this worker is not debugged: %s", problem)
            return problem
        return ""

    return dial_in


def _leaving(address: str) -> InWorker:
    """Return a function that ends the connections to that address: a debugger leaves with its connection."""
    host, port = _parted(address)

    def leave(*_: Any) -> None:
        import os
        import socket
        from contextlib import suppress
        from stat import S_ISSOCK

        doors = {found[4][:2] for found in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)}
        for name in os.listdir("/dev/fd"):
            with suppress(OSError):  # that of the list itself is closed by now
                if S_ISSOCK(os.fstat(int(name)).st_mode):
                    with socket.socket(fileno=os.dup(int(name))) as connection:
                        if connection.getpeername()[:2] in doors:
                            connection.shutdown(socket.SHUT_RDWR)

    return leave


def _dask_plugin(dial_in: InWorker, leave: InWorker) -> Any:
    distributed: Any = import_module("distributed")

    class DialIn(distributed.WorkerPlugin):  # type: ignore[misc]
        """Dials in when a worker starts, or is given this plugin; leaves when it is taken away."""

        async def setup(self, worker: Any) -> None:
            import asyncio
            import os

            os.environ.setdefault("DASK_WORKER_NAME", str(worker.name))  # the label; Dask itself sets none
            self.problem = await asyncio.to_thread(dial_in)  # the worker's own loop continues

        def teardown(self, worker: Any) -> None:
            leave()

    return DialIn()


def _outcome(plugin: str) -> InWorker:
    def outcome(dask_worker: Any) -> str:
        return str(dask_worker.plugins[plugin].problem)

    return outcome
