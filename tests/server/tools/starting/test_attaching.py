"""debug_attach: by name, with the adapter that fits, and what cannot work is said before it is tried."""

import os
import struct
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest
import trio
from trio.testing import MockClock

from tests.server.scene import failure
from trio_debugmcp.app import Options
from trio_debugmcp.dap.profiles import Attach, Detect, Launch, PathMapping, profile_named
from trio_debugmcp.dap.profiles.opening import launch_values
from trio_debugmcp.session.settings import Settings
from trio_debugmcp.testing import DebugClient, FakeAdapter, FakeProfile, connect

pytestmark = pytest.mark.skipif(not Path("/proc/self/exe").exists(), reason="processes are found in Linux' /proc")


def options(**attributes: object) -> Options:
    profile = FakeProfile(FakeAdapter())
    profile.detect = Detect(elf="native")
    for name, value in attributes.items():
        setattr(profile, name, value)
    return Options(settings=Settings(directory="/", profiles=(profile,)))


STARTS = """\
import subprocess, sys
sleep, count, void = sys.argv[1], int(sys.argv[2]), subprocess.DEVNULL
print(*(subprocess.Popen([sleep, "300"], stdout=void, stderr=void).pid for _ in range(count)))
"""
"""Each of them has its name by then: Popen returns when it is executed."""


@contextmanager
def sleeping(name: str, directory: Path, count: int = 1) -> Iterator[list[int]]:
    """Processes with this name, which this process has not started itself."""
    place = directory / name
    place.symlink_to("/bin/sleep")
    command = [sys.executable, "-c", STARTS, str(place), str(count)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, timeout=120, start_new_session=True)
    pids = [int(each) for each in done.stdout.split()]
    try:
        yield pids
    finally:
        for pid in pids:
            os.kill(pid, 9)


@pytest.mark.real
async def test_the_only_process_of_a_name_is_attached_to(tmp_path: Path, autojump_clock: MockClock) -> None:
    name = f"only-{os.getpid()}"
    with sleeping(name, tmp_path) as (pid,):
        adapter = FakeAdapter()
        async with connect(options=options(adapter=adapter)) as client:
            await client.call("debug_attach", process=name)
            assert adapter.sent("attach")[-1]["pid"] == pid


@pytest.mark.real
async def test_of_several_processes_of_a_name_the_candidates_are_listed_and_counted(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    name = f"many-{os.getpid()}"
    with sleeping(name, tmp_path, 12) as pids:
        async with connect(options=options()) as client:
            failed = await failure(client, "debug_attach", process=name)
    assert failed.code == "INVALID_PARAMETER"
    assert f"12 processes are called '{name}'" in failed.message
    assert f"{min(pids)}: {tmp_path}/{name} 300; " in failed.message
    assert failed.message.endswith("; and 2 more.")


@pytest.mark.real
async def test_a_name_that_no_process_has_or_only_the_servers_own_is_said(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    name = f"ours-{os.getpid()}"
    (tmp_path / name).symlink_to("/bin/sleep")
    with subprocess.Popen([str(tmp_path / name), "300"]) as process:
        async with connect(options=options()) as client:
            failed = await failure(client, "debug_attach", process=name)
            assert (failed.code, f"No process is called '{name}'" in failed.message) == ("ATTACH_FAILED", True)
        process.kill()


async def refused(client: DebugClient, **arguments: object) -> tuple[str, str]:
    failed = await failure(client, "debug_attach", **arguments)
    return failed.code, failed.message


async def test_an_adapter_that_attaches_to_no_process_by_its_id_says_so_before_it_is_tried(
    autojump_clock: MockClock,
) -> None:
    async with connect(options=options(attaches_by_pid=False)) as client:
        code, message = await refused(client, pid=os.getpid())
        assert code == "NOT_SUPPORTED"
        assert message.startswith("fake cannot attach to a Fake process by its id. Launch the program with")


def test_which_of_our_adapters_attach_by_process_id() -> None:
    can = {name for name in ("debugpy", "gdb", "lldb-dap", "codelldb", "delve") if profile_named(name)}
    cannot = {"rdbg", "bash-dap", "perl-ls", "cmake"}
    profiles = {name: profile_named(name) for name in can | cannot}
    assert {name for name, each in profiles.items() if each is not None and each.attaches_by_pid} == can
    assert {name for name, each in profiles.items() if each is not None and each.traces} == can


async def test_the_server_is_not_traced_by_itself(autojump_clock: MockClock) -> None:
    async with connect(options=options(traces=True)) as client:
        assert await refused(client, pid=os.getpid()) == (
            "ATTACH_FAILED",
            "This is the server itself, which would wait for its own answer.",
        )


async def test_one_way_to_the_program_is_named(autojump_clock: MockClock) -> None:
    async with connect(options=options()) as client:
        for arguments in ({}, {"pid": 1, "process": "x"}, {"port": 1, "process": "x"}, {"pid": 1, "port": 1}):
            assert (await refused(client, **arguments))[0] == "INVALID_PARAMETER"


# --- Core files -------------------------------------------------------------------------------------------------------


async def test_a_core_file_needs_its_program_and_an_adapter_that_reads_it(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    (tmp_path / "core").touch()
    (tmp_path / "app").touch()
    core, app = str(tmp_path / "core"), str(tmp_path / "app")
    async with connect(options=options()) as client:
        code, message = await refused(client, core_file=core)
        assert (code, message.endswith("The file does not say which it was.")) == ("INVALID_PARAMETER", True)
        assert (await refused(client, core_file=core + "2", program=app, adapter="fake"))[0] == "INVALID_PATH"
        assert await refused(client, core_file=core, program=app, adapter="fake") == (
            "NOT_SUPPORTED",
            "fake does not look at core files. Pass an `adapter` that does, or leave it out.",
        )
        launched = await failure(client, "debug_launch", program=app, core=core)
        assert "opened by debug_attach, as its `core_file`" in launched.message


@pytest.mark.parametrize("reads", [False, True])
async def test_a_minidump_is_given_to_an_adapter_that_reads_those(
    tmp_path: Path, autojump_clock: MockClock, *, reads: bool
) -> None:
    (tmp_path / "crash.dmp").write_bytes(b"MDMP")
    (tmp_path / "app").touch()
    adapter = FakeAdapter()
    start = {"core_file": str(tmp_path / "crash.dmp"), "program": str(tmp_path / "app")}
    async with connect(options=options(adapter=adapter, reads_cores=True, reads_minidumps=reads)) as client:
        if reads:  # though nothing tells that it debugs the program
            await client.call("debug_attach", **start, timeout=1)
            assert "attach" in adapter.commands()
        else:
            code, message = await refused(client, **start, adapter="fake")
            assert (code, message.startswith("fake does not look at minidumps.")) == ("NOT_SUPPORTED", True)


async def test_of_the_stops_that_are_reported_of_a_core_file_the_first_is_the_crash(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    (tmp_path / "core").touch()
    adapter = FakeAdapter()
    async with connect(options=options(adapter=adapter, reads_cores=True)) as client, trio.open_nursery() as nursery:
        arguments = {"core_file": str(tmp_path / "core"), "program": adapter.program, "adapter": "fake"}
        nursery.start_soon(partial(client.call, "debug_attach", **arguments))
        await trio.sleep(1)
        await adapter.stop("exception")
        await adapter.stop("exception", thread=2)
        await trio.sleep(1)
        assert [each["threadId"] for each in adapter.sent("stackTrace")] == [1]


async def test_a_core_file_is_paused_where_the_program_crashed_and_is_not_asked_to_run(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    (tmp_path / "core").touch()
    adapter = FakeAdapter()
    async with connect(options=options(adapter=adapter, reads_cores=True)) as client, trio.open_nursery() as nursery:
        arguments = {"core_file": str(tmp_path / "core"), "program": adapter.program, "adapter": "fake"}
        stops = list[dict[str, object]]()

        async def attach() -> None:
            stops.append(await client.call("debug_attach", **arguments))

        nursery.start_soon(attach)
        await trio.sleep(1)
        await adapter.stop("exception")
        await trio.sleep(1)
        assert (stops[0]["state"], stops[0]["reason"], stops[0]["session"]) == ("Paused", "Exception", "s-1")
        for tool in ("debug_continue", "debug_step"):
            assert (await failure(client, tool)).code == "NOT_SUPPORTED"
        assert not {"continue", "next"} & set(adapter.commands())


async def test_what_a_core_file_of_another_machine_does_not_say_is_noted(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    head = b"\x7fELF\x02\x01\x01".ljust(16, b"\0")
    header = struct.pack("<HHIQQQIHHHHHH", 4, 183, 1, 0, 64, 0, 0, 64, 56, 0, 0, 0, 0)
    (tmp_path / "core").write_bytes(head + header)
    adapter = FakeAdapter()
    async with connect(options=options(adapter=adapter, reads_cores=True)) as client, trio.open_nursery() as nursery:
        arguments = {"core_file": str(tmp_path / "core"), "program": adapter.program, "adapter": "fake"}
        notes = list[object]()

        async def attach() -> None:
            notes.append((await client.call("debug_attach", **arguments))["notes"])

        nursery.start_soon(attach)
        await trio.sleep(1)
        await adapter.stop("exception")
        await trio.sleep(1)
        assert "a core file of aarch64 does not say in which calls they were" in str(notes)


async def test_options_do_not_contradict_what_is_attached_to_and_it_has_a_name(autojump_clock: MockClock) -> None:
    async with connect(options=options(code_options=frozenset({"initCommands"}))) as client:
        code, message = await refused(client, port=5678, adapter_options={"port": 5679})
        assert (code, message) == (
            "INVALID_PARAMETER",
            "adapter_options may not set 'port': pass the parameter port instead.",
        )
        await client.call("debug_attach", pid=os.getpid(), adapter_options={"x": 1})
        name = (await client.read("debugger://session"))["processName"]
        assert name
        assert name in (Path("/proc/self/cmdline").read_text()) or name == Path("/proc/self/comm").read_text().strip()


# --- Files that are elsewhere -----------------------------------------------------------------------------------------


async def test_mappings_are_refused_for_an_adapter_that_has_no_words_for_them(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    mappings = [{"local": str(tmp_path), "remote": "/srv/app"}]
    async with connect(options=options()) as client:
        code, message = await refused(client, port=5678, path_mappings=mappings)
        assert (code, message.startswith("fake cannot map paths to files elsewhere")) == ("NOT_SUPPORTED", True)
        failed = await failure(
            client, "debug_launch", program=FakeAdapter().program, adapter="fake", path_mappings=mappings
        )
        assert failed.code == "NOT_SUPPORTED"
    async with connect(options=options(maps_paths=True)) as client:
        for wrong in ({"local": "/nowhere", "remote": "/srv"}, {"local": str(tmp_path), "remote": "srv"}):
            assert (await refused(client, port=5678, path_mappings=[wrong]))[0] == "INVALID_PATH"
        await client.call("debug_attach", port=5678, path_mappings=mappings)


@pytest.mark.real
def test_each_adapter_gets_mappings_in_its_own_words() -> None:
    mapped = (PathMapping("/here", "/there"), PathMapping("/b", 'C:\\"b'))
    launch, attach = Launch("/app", path_mappings=mapped), Attach(port=1, path_mappings=mapped)
    profiles = {name: profile_named(name) for name in ("debugpy", "lldb-dap", "codelldb")}
    words = {"debugpy": "pathMappings", "lldb-dap": "sourceMap", "codelldb": "sourceMap"}
    given = {name: each.launch_arguments(launch)[words[name]] for name, each in profiles.items() if each is not None}
    assert given == {
        "debugpy": [{"localRoot": "/here", "remoteRoot": "/there"}, {"localRoot": "/b", "remoteRoot": 'C:\\"b'}],
        "lldb-dap": [["/there", "/here"], ['C:\\"b', "/b"]],
        "codelldb": {"/there": "/here", 'C:\\"b': "/b"},
    }
    for name, each in profiles.items():
        assert each is not None
        assert each.attach_arguments(attach)[words[name]] == given[name]
        assert words[name] not in each.launch_arguments(Launch("/app"))
    for name in ("delve", "js-debug"):
        profile = profile_named(name)
        assert profile is not None
        both = (profile.launch_arguments(launch), profile.attach_arguments(attach))
        if name == "delve":
            paths = [{"from": "/here", "to": "/there"}, {"from": "/b", "to": 'C:\\"b'}]
            assert [each["substitutePath"] for each in both] == [paths, paths]
        else:
            assert [(each["localRoot"], each["remoteRoot"]) for each in both] == [("/here", "/there")] * 2
        assert not {"substitutePath", "localRoot"} & profile.launch_arguments(Launch("/app")).keys()
    assert launch_values(launch)["gdb_substitutes"] == [
        *("-iex", 'set substitute-path "/there" "/here"'),
        *("-iex", 'set substitute-path "C:\\\\\\"b" "/b"'),
    ]
