"""Workers of Dask and Ray are sent what has them dial in, and what has them leave; it needs nothing of this package."""

import asyncio
import inspect
import os
import socket
import sys
from collections.abc import Callable, Sequence
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from trio_debugmcp import fleet

ADDRESS, TOKEN = "127.0.0.1:5678", "secret"


class FakeClient:
    """A `distributed.Client` whose workers are here, as far as our calls use one."""

    def __init__(self, *, asynchronous: bool = False) -> None:
        self.asynchronous = asynchronous
        self.workers = {f"tcp://worker-{n}": SimpleNamespace(name=n, plugins=dict[str, Any]()) for n in range(2)}

    def register_plugin(self, plugin: Any, name: str) -> None:
        for worker in self.workers.values():
            worker.plugins[name] = plugin
            asyncio.run(plugin.setup(worker))

    def unregister_worker_plugin(self, name: str) -> None:
        for worker in self.workers.values():
            worker.plugins.pop(name).teardown(worker)

    def run(self, call: Callable[..., Any]) -> dict[str, Any]:
        return {address: call(dask_worker=worker) for address, worker in self.workers.items()}


class SpyingClient(FakeClient):
    """One without workers, which keeps the functions that they would be sent."""

    def __init__(self) -> None:
        super().__init__()
        self.sent: list[Callable[..., Any]] = []

    def register_plugin(self, plugin: Any, name: str) -> None:
        self.sent += [type(plugin).setup, type(plugin).teardown]

    def run(self, call: Callable[..., Any]) -> dict[str, Any]:
        self.sent.append(call)
        return {}


class FakeActor:
    """A handle of a Ray actor: calls are made at once, and their results are the references."""

    __ray_call__ = SimpleNamespace(remote=lambda call: call(object()))


@pytest.fixture(autouse=True)
def clusters(monkeypatch: pytest.MonkeyPatch) -> None:
    """Dask and Ray, as far as they are used; and lines that a test puts in place of the one that fetches the engine."""
    distributed, ray = ModuleType("distributed"), ModuleType("ray")
    vars(distributed)["WorkerPlugin"] = object
    vars(ray)["get"] = lambda references: references
    monkeypatch.setitem(sys.modules, "distributed", distributed)
    monkeypatch.setitem(sys.modules, "ray", ray)
    monkeypatch.delenv("DASK_WORKER_NAME", raising=False)


def with_line(monkeypatch: pytest.MonkeyPatch, line: str) -> list[Sequence[object]]:
    """Have workers run this line, and return what it was asked for."""
    asked = list[Sequence[object]]()

    def fetching_line(*words: object) -> str:
        asked.append(words)
        return line

    monkeypatch.setattr(fleet, "fetching_line", fetching_line)
    return asked


def test_each_worker_of_dask_runs_the_line_and_has_its_name_as_label(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = with_line(monkeypatch, "import sys; sys.modules['ray'].seen = True")
    assert fleet.dial_in_dask(FakeClient(), ADDRESS, TOKEN, pin="6153") == {"tcp://worker-0": "", "tcp://worker-1": ""}
    assert asked == [("127.0.0.1", 5678, TOKEN, "6153")]
    assert sys.modules["ray"].seen
    assert os.environ["DASK_WORKER_NAME"] == "0"


def test_a_worker_that_cannot_dial_in_works_on_and_the_caller_learns_why(monkeypatch: pytest.MonkeyPatch) -> None:
    with_line(monkeypatch, "raise ConnectionRefusedError('nobody listens')")
    found = fleet.dial_in_dask(FakeClient(), ADDRESS, TOKEN)
    assert found == dict.fromkeys(found, "ConnectionRefusedError: nobody listens")
    assert fleet.dial_in_ray([FakeActor()], ADDRESS, TOKEN) == ["ConnectionRefusedError: nobody listens"]
    assert fleet.ray_runtime_env(ADDRESS, TOKEN)["worker_process_setup_hook"]() == found["tcp://worker-0"]


@pytest.mark.real
def test_a_worker_that_leaves_ends_its_connections_to_the_debugger_and_no_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as door, socket.create_server(("127.0.0.1", 0)) as other:
        address = f"127.0.0.1:{door.getsockname()[1]}"
        with (
            socket.create_connection(door.getsockname()) as dialed,
            socket.create_connection(other.getsockname()) as kept,
        ):
            with_line(monkeypatch, "pass")
            client = FakeClient()
            fleet.dial_in_dask(client, address, TOKEN)
            before = set(os.listdir("/dev/fd"))
            fleet.leave_dask(client)
            assert set(os.listdir("/dev/fd")) <= before
            assert all(not worker.plugins for worker in client.workers.values())
            assert dialed.recv(1) == b""
            kept.sendall(b"x")
            with socket.create_connection(door.getsockname()) as again:
                fleet.leave_ray([FakeActor()], address)
                assert again.recv(1) == b""


def test_what_a_worker_is_sent_names_nothing_of_this_package() -> None:
    client = SpyingClient()
    hook = fleet.ray_runtime_env(ADDRESS, TOKEN)["worker_process_setup_hook"]
    fleet.dial_in_dask(client, ADDRESS, TOKEN)
    sent = [hook, *client.sent]
    assert len(sent) == 4
    while sent:
        found = inspect.getclosurevars(each := sent.pop())
        assert not found.globals.keys() - {"__name__"}, "which is an attribute there"
        assert "<locals>" in each.__qualname__, "so it is sent by value, not by name"
        sent += filter(inspect.isfunction, found.nonlocals.values())


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("5678", "pass HOST:PORT"),
        ("host:port", "pass HOST:PORT"),
        ("0.0.0.0:5678", "every address"),
        ("[::]:5", "every"),
    ],
)
def test_what_no_worker_can_dial_is_refused(address: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        fleet.dial_in_dask(FakeClient(), address, TOKEN)


def test_an_address_of_ipv6_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = with_line(monkeypatch, "pass")
    fleet.ray_runtime_env("[fe80::1]:5678", TOKEN)
    assert asked == [("fe80::1", 5678, TOKEN, "")]


def test_an_asynchronous_client_is_refused_with_what_to_do() -> None:
    with pytest.raises(TypeError, match=r"make one with Client\(address\)"):
        fleet.dial_in_dask(FakeClient(asynchronous=True), ADDRESS, TOKEN)
