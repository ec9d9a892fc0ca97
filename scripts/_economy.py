"""Counts what bugs cost an agent, in calls and bytes: `scripts/bench economy`.

Eight programs of tests/programs/economy have a bug each. Two ideal agents find it by the shortest sequence of calls
that shows its facts: one by stops (breakpoint, look, end), one by log points (a run that writes values and does not
stop). The server is played on stdio as hosts start it, in a directory of its own, so that all paths are absolute and
long. Only tools of its list are called.

Counted are the bytes that a model writes (the tool's name and its arguments as compact JSON) and those that its host
shows it (`structuredContent` as compact JSON). `scripts/bench economy --answers` prints them, too.
"""

import json
import sys
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import trio
from _bench import Rpc, open_rpc

PROGRAMS = Path(__file__).resolve().parent.parent / "tests" / "programs" / "economy"

SECONDS = 240
"""For all plays; one takes about two seconds on a machine that is not busy."""

LIMITS = {"stops": (2.8, 1460), "logs": (1.0, 750)}
"""Calls and bytes of the average bug, at most."""

Call = tuple[str, dict[str, Any]]


class Bug(NamedTuple):
    """A bug, the facts that show it, and the calls of the two plays. `stops` ends with the program still paused."""

    program: str
    facts: Sequence[str]
    stops: Sequence[Call]
    logged: dict[str, Any]
    logged_facts: Sequence[str]


class FactsMissing(Exception):
    """Raised when a play has not shown its bug."""


class Spent(NamedTuple):
    tool: str
    asked: int
    answered: int


def at(program: str, text: str) -> dict[str, Any]:
    """The one line of a program that begins with this text, as arguments of the breakpoint tools."""
    path = PROGRAMS / f"{program}.py"
    lines = path.read_text().splitlines()
    (number,) = [number for number, line in enumerate(lines, 1) if line.strip().startswith(text)]
    return {"file": str(path), "line": number}


def launch(program: str, *breakpoints: dict[str, Any], **arguments: Any) -> Call:
    more = {"breakpoints": list(breakpoints)} if breakpoints else {}
    return "debug_launch", {"program": str(PROGRAMS / f"{program}.py"), **more, **arguments}


def step(**arguments: Any) -> Call:
    return "debug_step", arguments


END: Call = ("debug_disconnect", {})

BUGS = [
    Bug(
        "cart",  # a default that is made once
        ["cart.py:20 in pay", "owner='ben'", "cart.items: [('tea', 3), ('jam', 4)"],
        [launch("cart", at("cart", "due =") | {"condition": "owner == 'ben'"}, show=["cart.items"]), END],
        at("cart", "for name, price in shopping") | {"log_message": "{owner} {cart.items}"},
        ["ann []", "ben [('tea', 3), ('jam', 4)]"],
    ),
    Bug(
        "window",  # off by one
        ["'start': '1'", "len(values) - size: 2", "averages': '[14.0, 16.333333333333332]"],
        [
            launch("window", at("window", "return found") | {"condition": "21 in values"}, show=["len(values) - size"]),
            step(mode="out"),
            END,
        ],
        at("window", "return found") | {"log_message": "{values} {size} {len(found)}"},
        ["[14, 13, 15, 21, 24] 3 2"],
    ),
    Bug(
        "settings",  # an exception that is swallowed
        ["ValueError: invalid literal for int() with base 10: ' 80 80'", "text': \"' 80 80'", "load :16"],
        [launch("settings", {"exception": "ValueError"}), END],
        at("settings", "continue") | {"log_message": "{line} {__import__('sys').exc_info()[1]!r}"},
        ["port = 80 80 ValueError"],
    ),
    Bug(
        "folders",  # a wrong base case
        ["FILES.get(folder): 0", "'returned': {'size': '1'}"],
        [
            launch(
                "folders",
                at("folders", "return FILES") | {"condition": "folder == 'ben'"},
                show=["FILES.get(folder)"],
            ),
            step(mode="out"),
            END,
        ],
        at("folders", "return FILES") | {"log_message": "{folder} {FILES.get(folder)} {FILES.get(folder) or 1}"},
        ["ben 0 1", "mail 20 20"],
    ),
    Bug(
        "seats",  # a lock for each thread
        ["desk-1", "desk-2", "'seat': '10'", "<locked _thread.lock"],
        [
            launch("seats", at("seats", "left = seat")),
            ("stacktrace_get", {"thread_id": "*", "locals": True}),
            END,
        ],
        at("seats", "left = seat") | {"log_message": "{threading.current_thread().name} {id(lock)} {seat}"},
        ["desk-1 ", "desk-2 ", " 10", "left 7"],
    ),
    Bug(
        "mailer",  # tasks that are never awaited
        ["'started': '3'", "sent: {}", "deliver"],
        [launch("mailer", at("mailer", "arrived ="), show=["sent"]), ("tasks_list", {}), END],
        at("mailer", "arrived =") | {"log_message": "{sent} {[t.done() for t in asyncio.all_tasks()]}"},
        ["{} [False, False, False, False]", "3 letters, 0 delivered"],
    ),
    Bug(
        "scores",  # a generator that is exhausted
        ["'best': '30'", "list(scores): []", "<generator parsed.<locals>.<genexpr>, finished>"],
        [launch("scores", at("scores", "shares ="), show=["list(scores)"]), END],
        at("scores", "shares =") | {"log_message": "{scores} {list(scores)}"},
        ["<generator object parsed", "> []"],
    ),
    Bug(
        "press",  # in a child process
        ["'width': '320'", "'height': '320'", "press_worker.py"],
        [launch("press", at("press_worker", "return")), END],
        at("press_worker", "return") | {"log_message": "{size} {width} {height}"},
        ["640x480 320 320"],
    ),
]


def plays(bug: Bug) -> dict[str, tuple[Sequence[Call], Sequence[str]]]:
    return {
        "stops": (bug.stops, bug.facts),
        "logs": ([launch(bug.program, bug.logged)], bug.logged_facts),
    }


def compact(value: object) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def readable(answer: dict[str, Any]) -> str:
    """An answer with its values beside their names, as facts spell them: `'left': '3'`, `len(lines): 2`."""
    shown = "".join(f"{name}: {value}\n" for name, value in answer.get("show", {}).items())
    return f"{answer}\n{answer.get('log', '')}\n{answer.get('exception', '')}\n{shown}"


async def play(rpc: Rpc, calls: Sequence[Call], facts: Sequence[str], *, show: bool) -> list[Spent]:
    """Play the calls; every fact must be in an answer. Breakpoints are removed afterwards, which is not counted."""
    spent, seen = [], ""
    for tool, arguments in calls:
        answer = (await rpc.call(tool, **arguments))["structuredContent"]
        asked, answered = tool + compact(arguments), compact(answer)
        spent.append(Spent(tool, len(asked.encode()), len(answered.encode())))
        seen += readable(answer)
        if show:
            print(f"  > {asked}\n  < {answered}")
    missing = [each for each in facts if each not in seen]
    if missing:
        raise FactsMissing(f"{calls[0]}: {missing} not in\n{seen}")
    await rpc.call("breakpoint_remove", id="*")
    return spent


def table(found: dict[str, dict[str, list[Spent]]]) -> str:
    rows = ["| bug | at stops: calls / bytes | with log points: calls / bytes |", "|---|---|---|"]
    sums: dict[str, list[Spent]] = defaultdict(list)
    for name, ways in found.items():
        rows.append(f"| {name} | {counted(ways['stops'])} | {counted(ways['logs'])} |")
        for way, spent in ways.items():
            sums[way] += spent
    rows.append(f"| **all {len(found)}** | {counted(sums['stops'])} | {counted(sums['logs'])} |")
    rows += ["", "| answer | times | bytes asked | bytes answered |", "|---|---|---|---|"]
    by_answer: dict[str, list[Spent]] = defaultdict(list)
    for way, spent in sums.items():
        for each in spent:
            by_answer[f"{each.tool}, {way}"].append(each)
    for answer, every in sorted(by_answer.items(), key=lambda item: -sum(each.answered for each in item[1])):
        asked, answered = (sum(getattr(each, name) for each in every) for name in ("asked", "answered"))
        rows.append(f"| {answer} | {len(every)} | {asked:,} | {answered:,} |")
    return "\n".join(rows)


def counted(spent: Sequence[Spent]) -> str:
    return f"{len(spent)} / {sum(each.asked + each.answered for each in spent):,}"


def over_limits(found: dict[str, dict[str, list[Spent]]]) -> list[str]:
    problems = []
    for way, (calls, size) in LIMITS.items():
        spent = [each for ways in found.values() for each in ways[way]]
        for what, value, limit in (
            ("calls", len(spent), calls * len(found)),
            ("bytes", sum(each.asked + each.answered for each in spent), size * len(found)),
        ):
            if value > limit:
                problems.append(f"{way}: {value:,} {what}, more than {limit:,.0f}")
    return problems


async def measured(*, show: bool) -> dict[str, dict[str, list[Spent]]]:
    found: dict[str, dict[str, list[Spent]]] = {}
    with tempfile.TemporaryDirectory() as directory, trio.fail_after(SECONDS):
        server = ["sh", "-c", 'cd "$0" && exec "$@"', directory, sys.executable, "-m", "trio_debugmcp", "serve"]
        async with open_rpc(server) as rpc:
            listed = {tool["name"] for tool in (await rpc.request("tools/list", {}))["tools"]}
            for bug in BUGS:
                found[bug.program] = {}
                for way, (calls, facts) in plays(bug).items():
                    if show:
                        print(f"{bug.program}, {way}")
                    unlisted = {tool for tool, _ in calls} - listed
                    if unlisted:
                        raise FactsMissing(f"{bug.program}: {unlisted} are not in the list that a model sees")
                    found[bug.program][way] = await play(rpc, calls, facts, show=show)
    return found


def main() -> None:
    found = trio.run(lambda: measured(show="--answers" in sys.argv[1:]))
    print(table(found))
    problems = over_limits(found)
    if problems:
        sys.exit("\n".join(problems))


if __name__ == "__main__":
    main()
