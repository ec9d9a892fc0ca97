"""Properties of scenario and recording files: any of them is read or refused, and one that is read can be played."""

import json
from pathlib import Path

import trio

import trio_debugmcp
from tests.fuzz.running import run
from tests.fuzz.sources import opened_files
from trio_debugmcp.app import Options
from trio_debugmcp.recording.format import NotARecording, Recording, parse_recording
from trio_debugmcp.replay.replaying import Replay
from trio_debugmcp.session.settings import Settings
from trio_debugmcp.testing import DebugClient, ToolFailed, open_server, play
from trio_debugmcp.testing.scenario.script_lines import BadScenario, Scenario
from trio_debugmcp.testing.scenario.script_text import decode_scenario, encode_scenario

DATA = Path(__file__).parent.parent / "data"
SCENARIOS = Path(__file__).parent.parent / "scenarios"


def scenario(data: bytes) -> Scenario | None:
    """Read a scenario, and check that writing it gives the same one; None if it is refused."""
    try:
        read = decode_scenario(data.decode(errors="replace"))
    except BadScenario:
        return None
    again = decode_scenario(encode_scenario(read))
    assert (again.setting, [step.line for step in again.steps]) == (read.setting, [step.line for step in read.steps])
    return read


def played(data: bytes) -> None:
    """A scenario that can be read can be played, and gives a report."""
    read = scenario(data)
    if read is None:
        return

    async def main() -> None:
        report = await play(read)
        assert isinstance(str(report), str)

    run(main)


PACKAGE = str(Path(trio_debugmcp.__file__).parent)


def recording(data: bytes) -> Recording | None:
    """Read a recording; None if it is refused."""
    try:
        return parse_recording(data)
    except NotARecording:
        return None


def replayed(data: bytes) -> None:
    """A recording that can be read can be served, and opens no file of this machine."""
    read = recording(data)
    if read is None:
        return

    async def main() -> None:
        settings = Settings(directory=read.header.directory, roots=tuple(read.header.roots))
        with opened_files() as opened:
            try:
                replay = Replay(read, speed=0)
            except NotARecording:  # its lines can be read, its adapters' messages make no sense: refused by that name
                return
            options = Options(settings=settings).replayed(replay)
            async with open_server(options) as server, server.connect() as client:
                await look(client)
                await trio.sleep(1000)
                await look(client)
        # The package's own files are those of the probe, which is read once.
        assert not [path for path in opened if path.endswith(".py") and not path.startswith(PACKAGE)]

    run(main)


async def look(client: DebugClient) -> None:
    """Read everything, as a client does first."""
    for uri in await client.uris():
        json.loads(await client.read_text(uri))
    try:
        await client.call("debug_state")
    except ToolFailed as failed:
        assert failed.code != "INTERNAL"  # noqa: PT017
