"""Performs the lines of a scenario that do something: what the adapter sends, and what clients do."""

from contextlib import suppress

import trio

from trio_debugmcp.testing.fake_adapter import FakeAdapter, FakeProfile
from trio_debugmcp.testing.fake_answers import Arguments
from trio_debugmcp.testing.scenario.run import LineDiffers, ScenarioRun
from trio_debugmcp.testing.scenario.script_lines import (
    ROOT,
    AdapterLine,
    AskChild,
    AskClient,
    Call,
    CancelCall,
    ClientLine,
    ConnectClient,
    LaunchProgram,
    Leave,
    Read,
    ReadOn,
    SendCrash,
    SendEvent,
    SendExit,
    SendOutput,
    SendRaw,
    SendStop,
    SendTrace,
    SetAnswer,
    StopReading,
    Subscribe,
    Unsubscribe,
)
from trio_debugmcp.testing.scenario.script_text import filled, full_uri

# --- The adapter ------------------------------------------------------------------------------------------------------


async def send(run: ScenarioRun, line: AdapterLine, nursery: trio.Nursery) -> None:
    """Perform an adapter's line; repetitions run in the nursery."""
    await _send_once(run, filled(line, N=1))
    if line.times > 1:
        nursery.start_soon(_repeat, run, line, trio.current_time())


async def _repeat(run: ScenarioRun, line: AdapterLine, start: float) -> None:
    for number in range(1, line.times):
        await trio.sleep_until(start + number * line.every)
        await _send_once(run, filled(line, N=number + 1))


async def _send_once(run: ScenarioRun, line: AdapterLine) -> None:
    adapter = run.adapter(line.who)
    match line:
        case SendStop():
            await _stop(adapter, line)
        case SendEvent(event=event, body=body):
            await adapter.event(event, body)
        case SendOutput(text=text, stream=stream):
            await adapter.event("output", {"category": stream, "output": text})
        case SendTrace(id=id_, text=text):
            marked = FakeProfile(adapter).dialect.log_message(id_, f"{text}\n")
            await adapter.event("output", {"category": "stdout", "output": marked})
        case SendExit(code=code):
            await adapter.exit(code)
        case SendCrash():
            await adapter.crash()
        case SendRaw(text=text):
            with suppress(trio.BrokenResourceError, trio.ClosedResourceError):
                await adapter.send_raw(text.encode("latin-1", "replace"))
        case SetAnswer(who=who):
            run.answers_of(who, line.command).set(line)
        case AskChild(name=name, request=request):
            start = {"request": request, "configuration": {"child": run.add_child(name)}}
            await _ask(run.adapter(ROOT), "startDebugging", start, success=True)
        case AskClient(command=command, arguments=arguments, success=success):
            await _ask(adapter, command, arguments, success=success)
        case _:
            raise AssertionError(f"no such line: {line}")


async def _stop(adapter: FakeAdapter, line: SendStop) -> None:
    adapter.frames = adapter.frames if line.frames is None else list(line.frames)
    adapter.threads = adapter.threads if line.threads is None else list(line.threads)
    adapter.locals = adapter.locals if line.locals is None else line.locals
    hit = {"hitBreakpointIds": line.hit} if line.hit else {}
    stopped = {"reason": line.reason, "threadId": line.thread, "allThreadsStopped": True, **hit, **line.body}
    await adapter.event("stopped", stopped)


async def _ask(adapter: FakeAdapter, command: str, arguments: Arguments, *, success: bool) -> None:
    answer = await adapter.reverse_request(command, arguments)
    if answer["success"] is not success:
        raise LineDiffers(f"{command} was {'refused' if success else 'granted'}: {answer.get('message') or ''}")


# --- Clients ----------------------------------------------------------------------------------------------------------


def begin_call(run: ScenarioRun, number: int, line: Call | LaunchProgram | Read) -> None:
    """Begin a call, which runs beside the lines after it."""
    client = run.client(line.who)
    mcp = client.mcp
    match line:
        case Read(uri=uri):
            client.begin(f"reading {uri}", number, line.name, lambda: mcp.read_text(full_uri(uri)))
        case Call(tool=tool, arguments=arguments):
            client.begin(tool, number, line.name, lambda: mcp.call(tool, **arguments))
        case LaunchProgram(arguments=arguments):
            launch = {"program": run.setting.program, "stop_at_entry": False, "wait": False, **arguments}
            client.begin("debug_launch", number, line.name, lambda: mcp.call("debug_launch", **launch))


async def perform(run: ScenarioRun, line: ClientLine) -> None:
    """Perform a client's line that is not a call or a read."""
    match line:
        case ConnectClient(who=who, era=era, role=role):
            await run.connect(who, era, role)
        case Subscribe(who=who, uris=uris):
            await run.client(who).subscribe([full_uri(uri) for uri in uris])
        case Unsubscribe(who=who, uris=uris):
            await run.client(who).unsubscribe([full_uri(uri) for uri in uris])
        case CancelCall(who=who, of=of):
            run.call(who, of).scope.cancel(reason="the client cancels the call")
        case StopReading(who=who):
            run.client(who).valve.close()
        case ReadOn(who=who):
            run.client(who).valve.open()
        case Leave(who=who):
            await run.disconnect(who)
        case _:
            raise AssertionError(f"no such line: {line}")
