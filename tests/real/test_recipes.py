"""docs/recipes.md and docs/first-session.md are true: their programs run, and their calls answer what they show."""

import json
import re
import shutil
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import trio

from tests.languages.conftest import installed, need
from tests.real.conftest import BY_ENGINE, Connect
from trio_debugmcp.testing import DebugClient, ToolFailed

DOCS = Path(__file__).parent.parent.parent / "docs"
SECTIONS = {
    text.partition("\n")[0]: text
    for page in ("recipes.md", "first-session.md")
    for text in (DOCS / page).read_text(encoding="utf-8").split("\n## ")[1:]
}
RECIPES = {title: text for title, text in SECTIONS.items() if "```text" in text}

OF_THE_RUN = {"omitted", "pid", "session", "stop"}
"""Keys whose values differ from run to run, or that the page leaves out."""

OF_THE_ENGINE = set() if BY_ENGINE else {"caughtBy", "thread"}
"""Keys on the page that differ where pydevd debugs the program: its own threads take names such as `Thread-1`."""


class Call(NamedTuple):
    """A call on the page, and its answer if the page shows it."""

    tool: str
    arguments: dict[str, Any]
    answer: dict[str, Any] | None


class Command(NamedTuple):
    """A command line on the page."""

    line: str


def steps(recipe: str) -> list[Call | Command]:
    """The calls and commands of a recipe, in order. A line that is indented continues the one before."""
    steps: list[Call | Command] = []
    for block in re.findall(r"```text\n(.*?)```", recipe, re.DOTALL):
        for line in re.sub(r"\n +", " ", block).splitlines():
            word, _, text = line.partition(" ")
            if word == "$":
                steps.append(Command(text))
            elif word == "→":
                call = steps[-1]
                assert isinstance(call, Call)
                steps[-1] = call._replace(answer=json.loads(text))
            else:
                steps.append(Call(word, json.loads(text), None))
    return steps


def lasting(answer: dict[str, Any]) -> dict[str, Any]:
    """An answer without what differs from run to run; `self` among the locals may have a port or an address."""
    lasting = {key: value for key, value in answer.items() if key not in OF_THE_RUN | OF_THE_ENGINE}
    if "self" in lasting.get("locals", {}):
        lasting["locals"] = {name: value for name, value in answer["locals"].items() if name != "self"}
    return lasting


COMING_SECONDS = 120
"""In which a program comes to where the page shows it, on a busy machine."""


async def check(client: DebugClient, call: Call) -> None:
    """Make the call, and compare its answer with that of the page."""
    answer = await client.call(call.tool, **call.arguments)
    with trio.move_on_after(COMING_SECONDS):  # then what it answers is shown beside the page's
        while call.tool == "threads_list" and call.answer != answer:  # the program has not come so far
            await trio.sleep(0.1)
            answer = await client.call(call.tool, **call.arguments)
    assert call.answer is None or lasting(answer) == lasting(call.answer)


async def port_of_the_server(client: DebugClient) -> str:
    """Return the port where the program listens, as soon as it does."""
    while True:
        try:
            return str((await client.call("evaluate", expression="server.server_port"))["value"])
        except ToolFailed:  # it has not come so far
            await trio.sleep(0.1)


async def run(command: str) -> None:
    """Run a command line of the page, which must succeed."""
    await trio.run_process(command, shell=True, capture_stdout=True)


@pytest.mark.parametrize("title", RECIPES)
async def test_the_calls_of_a_recipe_answer_what_the_page_shows(
    title: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, debugging: Connect
) -> None:
    recipe, chosen = RECIPES[title], {}
    ((name, source),) = re.findall(r"`(\w+\.(?:py|cpp))`[^\n]*:\n\n```\w+\n(.*?)```", recipe, re.DOTALL)
    if name.endswith(".cpp"):
        need("g++", shutil.which("g++"), "apt-get install g++")
        chosen["adapter"] = installed("gdb")  # the page shows its words
    (tmp_path / name).write_text(source.replace("8000", "0"), encoding="utf-8")  # a port that is free
    monkeypatch.chdir(tmp_path)  # the server's directory
    async with debugging() as client, trio.open_nursery() as nursery:
        for step in steps(recipe):
            if isinstance(step, Call):
                arguments = step.arguments | (chosen if step.tool == "debug_launch" else {})
                await check(client, step._replace(arguments=arguments))
            elif "8000" in step.line:  # what is asked of a program is answered when it continues
                nursery.start_soon(run, step.line.replace("8000", await port_of_the_server(client)))
            else:
                await run(step.line)


def test_each_recipe_has_a_question_and_an_answer() -> None:
    for recipe in RECIPES.values():
        assert re.search(r"^\*“.+”\*$", recipe, re.MULTILINE)
        assert any(isinstance(step, Call) and step.answer for step in steps(recipe))
