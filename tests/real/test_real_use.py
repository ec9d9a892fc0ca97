"""The debugger where people use it: in pytest, and in web servers that are serving."""

import json
import os
import shutil
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import trio

from tests.real.conftest import TEST_SECONDS, Connect, at, line_of, needs_gdb, program, text_of, where

TESTS = "failing_tests.py"


async def test_pytest_stops_where_an_assertion_fails_and_where_a_fixture_raises(
    debugging: Connect, tmp_path: Path
) -> None:
    tests = shutil.copy(program(TESTS), tmp_path)  # away from this repository's own conftest.py and options
    (tmp_path / "conftest.py").write_text("try:\n    raise LookupError\nexcept LookupError:\n    pass\n")
    async with debugging() as client:
        for raised in ("AssertionError", "LookupError"):
            await client.call("breakpoint_set_exception", exception_type=raised, file=str(tests))
        stop = await client.call(
            "debug_launch",
            program="pytest",
            args=["-q", tests],
            cwd=str(tmp_path),
            env={"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
            adapter_options={"module": "pytest", "python": sys.executable},
            stop_at_entry=False,
        )
        assert (stop["reason"], where(stop).line) == ("Exception", line_of(TESTS, "# in test"))
        assert stop["exception"].startswith("AssertionError: ")
        assert "3 == 4" in stop["exception"]
        assert stop["locals"]["total"] == "3"
        stop = await client.call("debug_continue")
        assert (stop["reason"], where(stop).line) == ("Exception", line_of(TESTS, "# in fixture"))
        assert stop["exception"] == "LookupError: no till"
        end = await client.call("debug_continue")
        assert (end["reason"], end["exitCode"]) == ("Exited", 1)
        assert "1 failed, 1 error" in text_of(await client.call("process_read_output"), "stdout").splitlines()[-1]
        assert end["stdout"].endswith(text_of(await client.call("process_read_output"), "stdout")[-200:])


@contextmanager
def serving(name: str) -> Iterator[tuple[int, str]]:
    """A web server: its process id, and the address of a page."""
    with subprocess.Popen([sys.executable, program(name)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as server:
        try:
            assert server.stdout is not None
            yield server.pid, f"http://127.0.0.1:{int(server.stdout.readline())}/price/tea"
        finally:
            server.kill()


def page(address: str) -> dict[str, object]:
    with urllib.request.urlopen(address, timeout=120) as answer:
        content: dict[str, object] = json.load(answer)
    return content


@needs_gdb
@pytest.mark.parametrize("name", ["flask_shop.py", "http_shop.py"])
async def test_a_web_server_that_is_attached_to_stops_in_a_request_and_serves_on_after_detaching(
    debugging: Connect, name: str
) -> None:
    with serving(name) as (pid, address):
        before = page(address)
        async with debugging() as client, trio.open_nursery() as nursery:
            await client.call("debug_attach", pid=pid)
            await client.call("breakpoint_set", **at(name, "# in view"))
            answers: list[dict[str, object]] = []

            async def visit() -> None:
                answers.append(await trio.to_thread.run_sync(page, address))

            nursery.start_soon(visit)
            stop = await client.call("debug_wait")
            assert (stop["reason"], where(stop).line) == ("Breakpoint", line_of(name, "# in view"))
            changed = await client.call("evaluate", expression="answer.update(price=4)")
            assert changed["value"] == "None"
            ended = await client.call("debug_disconnect")
            assert ended == {"detached": True}
        assert answers == [{**before, "price": 4}]  # the request that was stopped
        assert page(address) == before


async def test_workers_of_dask_stop_in_a_task_and_their_results_are_right(debugging: Connect, tmp_path: Path) -> None:
    async with debugging() as client:
        door = await client.call("debug_listen")
        await client.call("breakpoint_set", **at("dask_squares.py", "return squared"))
        environment = {**os.environ, "DIAL_IN": door["python"], "PYDEVD_DISABLE_FILE_VALIDATION": "1"}
        command = [sys.executable, program("dask_squares.py")]
        done: list[subprocess.CompletedProcess[bytes]] = []

        async def run() -> None:
            done.append(await trio.run_process(command, env=environment, cwd=tmp_path, capture_stdout=True))

        async with trio.open_nursery() as nursery:
            nursery.start_soon(run)
            # Until two processes have imported Dask, on a machine with three other tests.
            stops = [await client.call("debug_wait", timeout=TEST_SECONDS)]
            while len((await client.call("debug_state", session_id=door["session"])).get("sessions", [])) < 3:
                await trio.sleep(0.1)
            stops.append(await client.call("debug_continue", timeout=TEST_SECONDS))
            await client.call("debug_continue", wait=False)
        assert [where(each).function for each in stops] == ["square", "square"]
        values = sorted(stop["locals"]["squared"] for stop in stops)
        assert (values, len({stop["session"] for stop in stops})) == (["16", "9"], 2)
        assert done[0].stdout.split(b"\n")[-2] == b"[9, 16]"
