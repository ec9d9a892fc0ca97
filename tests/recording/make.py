"""Makes the recordings in tests/data/recordings, with the real debugpy: `python -m tests.recording.make`.

Paths of the machine are replaced by made-up ones; nothing else is edited. What one read of the adapter's pipe brings is
merged by two tasks, in an order that trio draws by lot; in a replay each message comes at its own moment. A recording
that shows the other order is made again, so that the tests can compare what was read then with what is read now.
"""

import sys
import sysconfig
import tempfile
from pathlib import Path

import trio

from tests.patience import FACTOR, TOOL_SECONDS
from tests.recording.scene import (
    PAIR_URIS,
    PAUSE_SECONDS,
    RECORDINGS,
    URIS,
    debug_the_clerks,
    debug_the_till,
    read_along,
    watch,
    without_times,
)
from trio_debugmcp.app import Options
from trio_debugmcp.patience import Patience
from trio_debugmcp.publish.debounce import MAX_WAIT_SECONDS, QUIET_SECONDS
from trio_debugmcp.recording.format import parse_recording
from trio_debugmcp.recording.recorder import Recorder, open_recorder
from trio_debugmcp.server.clients import LINGER_SECONDS
from trio_debugmcp.session.settings import Settings
from trio_debugmcp.testing import open_server

PATIENT = Patience(FACTOR)

PROGRAMS = Path(__file__).parent.parent / "programs"
TILL = PROGRAMS / "till.py"


def recorder_for(directory: Path, file: Path) -> Recorder:
    """A recorder of a server in that directory."""
    return open_recorder(
        file,
        directory=str(directory),
        debounce=QUIET_SECONDS,
        max_wait=MAX_WAIT_SECONDS,
        linger=LINGER_SECONDS,
        patience=PATIENT,
    )


async def record_the_till(directory: Path, file: Path) -> None:
    """Debug a copy of the program in `directory`, and record it."""
    till = directory / "till.py"
    till.write_text(TILL.read_text())
    line = 1 + TILL.read_text().splitlines().index("        amount += price")
    with recorder_for(directory, file) as recorder:
        options = Options(settings=Settings(directory=str(directory), patience=PATIENT)).recorded(recorder)
        async with (
            open_server(options) as server,
            server.connect() as client,
            client.subscribed(*URIS),
            trio.open_nursery() as nursery,
        ):
            client.timeout = TOOL_SECONDS
            nursery.start_soon(read_along, client)
            await debug_the_till(client, str(till), line)
            nursery.cancel_scope.cancel()


async def record_the_clerks(directory: Path, file: Path) -> None:
    """A program with several threads, left in the middle: the client reads everything before it disconnects."""
    (directory / "clerks.py").write_text((PROGRAMS / "clerks.py").read_text())
    with recorder_for(directory, file) as recorder:
        options = Options(settings=Settings(directory=str(directory), patience=PATIENT)).recorded(recorder)
        async with open_server(options) as server, server.connect() as client, client.subscribed(URIS[0]):
            client.timeout = TOOL_SECONDS
            await debug_the_clerks(client, "clerks.py")


async def record_a_family(directory: Path, file: Path) -> None:
    """A program with child processes; one client in control, in the modern era, and one that observes."""
    for name in ("parent.py", "child.py"):
        (directory / name).write_text((PROGRAMS / name).read_text())
    with recorder_for(directory, file) as recorder:
        options = Options(settings=Settings(directory=str(directory), patience=PATIENT)).recorded(recorder)
        async with (
            open_server(options) as server,
            server.connect("legacy", "observe") as observer,
            server.connect("modern") as client,
            client.subscribed(URIS[0]),
        ):
            client.timeout = TOOL_SECONDS
            await client.call("breakpoint_set", file="child.py", line=3)
            await client.call("debug_launch", program="parent.py", stop_at_entry=False)
            await observer.read(URIS[0])
            await client.call("debug_continue")
            await trio.sleep(1)


async def record_a_pair(directory: Path, file: Path) -> None:
    """Two programs at once: each is stepped, writes and ends by itself, and is read by its own resources."""
    (directory / "child.py").write_text((PROGRAMS / "child.py").read_text())
    with recorder_for(directory, file) as recorder:
        options = Options(settings=Settings(directory=str(directory), patience=PATIENT)).recorded(recorder)
        async with open_server(options) as server, server.connect() as client, client.subscribed(*PAIR_URIS):
            client.timeout = TOOL_SECONDS
            for word in ("ann", "ben"):
                await client.call("debug_launch", program="child.py", args=[word], new_session=True)
            for session in ("s-2", "s-1"):
                await client.call("debug_step", session_id=session, count=2)
                await trio.sleep(PAUSE_SECONDS)
            for uri in ("debugger://sessions", *PAIR_URIS):
                await client.read(uri)
            await client.call("debug_continue", session_id="s-2")
            await client.call("process_read_output", session_id="s-2")
            await client.call("debug_step", show=["doubled"])
            await client.call("debug_disconnect")
            await trio.sleep(1)


def neutral(text: str, directory: Path) -> str:
    """The recording without paths of this machine."""
    made_up = {
        str(directory): "/src",
        sysconfig.get_paths()["purelib"]: "/packages",
        sys.prefix: "/python",
        sys.base_prefix: "/python",
        str(Path.home()): "/home/ben",
    }
    for path, instead in made_up.items():
        text = text.replace(path, instead)
    return text


def main() -> None:
    """Make them all, or those that are named."""
    RECORDINGS.mkdir(parents=True, exist_ok=True)
    for record, file_name in (
        (record_the_till, "till.jsonl"),
        (record_a_family, "family.jsonl"),
        (record_the_clerks, "clerks.jsonl"),
        (record_a_pair, "pair.jsonl"),
    ):
        while not sys.argv[1:] or file_name in sys.argv[1:]:
            with tempfile.TemporaryDirectory() as name:
                directory = Path(name).resolve()
                trio.run(record, directory, directory / file_name)
                text = neutral((directory / file_name).read_text(), directory)
            answers = watch(parse_recording(text.encode())).answers
            if all(without_times(each.now) == without_times(each.then) for each in answers):
                (RECORDINGS / file_name).write_text(text)
                break


if __name__ == "__main__":
    main()
