"""Checks the lines of a scenario that expect something, and what remains at the end that no line expects."""

import json
from typing import Any

from mcp.shared.exceptions import MCPError

from trio_debugmcp.testing.debug_client import LIST_CHANGED
from trio_debugmcp.testing.scenario.comparison import difference_of_whole, differences, shown
from trio_debugmcp.testing.scenario.report import seconds
from trio_debugmcp.testing.scenario.run import LineDiffers, ScenarioRun
from trio_debugmcp.testing.scenario.scenario_client import NOT_FOUND, ScenarioCall, ScenarioClient
from trio_debugmcp.testing.scenario.script_lines import (
    EVERYONE,
    ExpectAnswer,
    ExpectAsked,
    ExpectError,
    ExpectLine,
    ExpectList,
    ExpectListChanged,
    ExpectNothing,
    ExpectResource,
    ExpectUpdated,
)
from trio_debugmcp.testing.scenario.script_text import full_uri


async def check(run: ScenarioRun, line: ExpectLine, due: float, *, timed: bool) -> None:
    """Check an expectation at the time that it is due; `timed` if the line has a time.

    Raises:
        LineDiffers: something differs from the line.
    """
    match line:
        case ExpectResource(who=who):
            await _check_resource(run.client(who), line)
        case ExpectUpdated(who=who, uris=uris):
            _raise_all([_claim(client, full_uri(uri), due) for client in _clients(run, who) for uri in uris])
        case ExpectListChanged(who=who):
            _raise_all([_claim(client, LIST_CHANGED, due) for client in _clients(run, who)])
        case ExpectNothing(who=who, until=until):
            _raise_all([_no_notices(client, until) for client in _clients(run, who)])
        case ExpectAnswer(who=who, of=of) | ExpectError(who=who, of=of):
            await _check_outcome(run, run.client(who), run.call(who, of), line, due if timed else None)
        case ExpectList(who=who):
            await _check_list(run.client(who), line)
        case ExpectAsked():
            _check_asked(run, line)
        case _:
            raise AssertionError(f"no such line: {line}")


def object_to_unexpected(run: ScenarioRun) -> None:
    """Add differences for notifications, and for calls that failed, which no line expects. Called at the end."""
    for client in run.clients.values():
        for notice in client.unclaimed:
            run.log.object_to(notice.entry, "no line expects this")
        for call in client.calls:
            if call.failure is not None and not call.expected:
                run.log.object_to(call.entry, "no line expects this")


def _clients(run: ScenarioRun, who: str) -> list[ScenarioClient]:
    return list(run.clients.values()) if who == EVERYONE else [run.client(who)]


def _raise_all(problems: list[list[str]]) -> None:
    sentences = [sentence for some in problems for sentence in some]
    if sentences:
        raise LineDiffers(*sentences)


# --- Notifications ----------------------------------------------------------------------------------------------------


def _claim(client: ScenarioClient, what: str, due: float) -> list[str]:
    """Claim the expected notice; returns the differences."""
    candidates = [notice for notice in client.unclaimed if notice.what == what]
    for notice in candidates:
        # Updates of one instant may arrive in any order, but none may change places with `list_changed`: a client that
        # lists again on it must have had all updates before. Hence the two numbers that are kept and compared here.
        if notice.at == due and notice.number > client.after_edge:
            early = what == LIST_CHANGED and client.latest_claim > notice.number
            client.claim(notice)
            client.after_edge = notice.number if what == LIST_CHANGED else client.after_edge
            return [f"{client.name} was notified of it before what the earlier lines expect"] if early else []
    for notice in candidates[:1]:
        client.claim(notice)
        order = "but before what the earlier line expects" if notice.at == due else f"not at {seconds(due)}"
        return [f"{client.name} was notified of {what} at {seconds(notice.at)}, {order}"]
    return [f"{client.name} was not notified of {what} at {seconds(due)}"]


def _no_notices(client: ScenarioClient, until: float) -> list[str]:
    early = [notice for notice in client.unclaimed if notice.at <= until]
    for notice in early:
        client.claim(notice)
    return [f"{client.name} was notified of {notice.what} at {seconds(notice.at)}" for notice in early]


# --- What is read and answered ----------------------------------------------------------------------------------------


async def _check_resource(client: ScenarioClient, line: ExpectResource) -> None:
    try:
        text = await client.mcp.read_text(full_uri(line.uri))
    except MCPError as error:
        raise LineDiffers(f"it cannot be read: {error.error.code}: {error.error.message}") from None
    _compare(line, text)


def _compare(line: ExpectResource | ExpectAnswer, actual: Any) -> None:
    problems = []
    if line.text is not None and actual != line.text:
        problems.append(f"the text is {shown(actual)}, not {shown(line.text)}")
    if line.has or line.whole is not None:
        value = _parsed(actual)
        problems += differences(line.has, value)
        problems += [] if line.whole is None else difference_of_whole(line.whole, value)
    if problems:
        raise LineDiffers(*problems)


def _parsed(actual: Any) -> Any:
    try:
        return json.loads(actual) if isinstance(actual, str) else actual
    except ValueError:
        raise LineDiffers(f"it is not JSON: {shown(actual)}") from None


async def _check_outcome(
    run: ScenarioRun, client: ScenarioClient, call: ScenarioCall, line: ExpectAnswer | ExpectError, due: float | None
) -> None:
    if due is None:
        await call.over.wait()
    if call.ended_at is None:
        raise LineDiffers(f"{call.what} (line {call.line}) has not been answered by {seconds(run.log.now)}")
    ended_at = run.log.since_zero(call.ended_at)
    if due is not None and ended_at != due:
        raise LineDiffers(f"{call.what} (line {call.line}) was answered at {seconds(ended_at)}, not at {seconds(due)}")
    if isinstance(line, ExpectAnswer):
        if call.failure is not None:
            call.expected = True
            raise LineDiffers(f"{call.what} failed: {call.failure.code}: {call.failure.message}")
        _compare(line, call.result)
        return
    if call.failure is None:
        raise LineDiffers(f"{call.what} did not fail; it answered {shown(call.result)}")
    call.expected = True
    expected = NOT_FOUND[client.mcp.modern] if line.code == "NOT_FOUND" else line.code
    if expected is not None and call.failure.code != expected:
        raise LineDiffers(f"the code is {call.failure.code}, not {expected}: {call.failure.message}")
    if line.says not in call.failure.message:
        raise LineDiffers(f"it says: {call.failure.message}")


async def _check_list(client: ScenarioClient, line: ExpectList) -> None:
    problems = _compare_sets("listed", {full_uri(uri) for uri in line.uris}, set(await client.mcp.uris()))
    if line.templates is not None:
        templates = set(await client.mcp.templates())
        problems += _compare_sets("a template", {full_uri(uri) for uri in line.templates}, templates)
    if problems:
        raise LineDiffers(*problems)


def _compare_sets(what: str, expected: set[str], actual: set[str]) -> list[str]:
    missing = [f"{uri} is not {what}" for uri in sorted(expected - actual)]
    return missing + [f"{uri} is {what}, and not expected to be" for uri in sorted(actual - expected)]


def _check_asked(run: ScenarioRun, line: ExpectAsked) -> None:
    requests = run.adapter(line.who).sent(line.command)
    if line.times is not None and len(requests) != line.times:
        raise LineDiffers(f"{line.who} was asked {line.command} {len(requests)} times, not {line.times}")
    if line.times != 0 and not requests:
        raise LineDiffers(f"{line.who} was not asked {line.command}")
    problems = differences(line.has, requests[-1]) if requests else []
    if problems:
        raise LineDiffers(*problems)
