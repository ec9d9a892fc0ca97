"""docs/recipes.md is true: its programs run, and its calls answer what it shows."""

import json
import re
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import trio

from tests.real.conftest import BY_ENGINE, Connect

PAGE = (Path(__file__).parent.parent.parent / "docs" / "recipes.md").read_text(encoding="utf-8")
RECIPES = {text.partition("\n")[0]: text for text in PAGE.split("\n## ")[1:]}

OF_THE_RUN = {"omitted", "pid", "session", "stop"}
"""Keys whose values differ from run to run, or that the page leaves out."""

OF_THE_ENGINE = set() if BY_ENGINE else {"caughtBy"}
"""Keys on the page that the answers about a program have only where the engine debugs it."""


class Call(NamedTuple):
    """A call on the page, and its answer if the page shows it."""

    tool: str
    arguments: dict[str, Any]
    answer: dict[str, Any] | None


def calls(recipe: str) -> list[Call]:
    """The calls of a recipe, in order. A line that is indented continues the one before."""
    found: list[Call] = []
    for block in re.findall(r"```text\n(.*?)```", recipe, re.DOTALL):
        for line in re.sub(r"\n +", " ", block).splitlines():
            word, _, text = line.partition(" ")
            if word == "→":
                found[-1] = found[-1]._replace(answer=json.loads(text))
            else:
                found.append(Call(word, json.loads(text), None))
    return found


def lasting(answer: dict[str, Any]) -> dict[str, Any]:
    """An answer without what differs from run to run."""
    return {key: value for key, value in answer.items() if key not in OF_THE_RUN | OF_THE_ENGINE}


@pytest.mark.parametrize("title", RECIPES)
async def test_the_calls_of_a_recipe_answer_what_the_page_shows(
    title: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, debugging: Connect
) -> None:
    recipe = RECIPES[title]
    ((name, source),) = re.findall(r"`(\w+\.py)`:\n\n```python\n(.*?)```", recipe, re.DOTALL)
    (tmp_path / name).write_text(source, encoding="utf-8")
    monkeypatch.chdir(tmp_path)  # the server's directory
    async with debugging() as client:
        for call in calls(recipe):
            answer = await client.call(call.tool, **call.arguments)
            while call.tool == "threads_list" and call.answer != answer:  # the program has not come so far
                await trio.sleep(0.1)
                answer = await client.call(call.tool, **call.arguments)
            assert call.answer is None or lasting(answer) == lasting(call.answer)


def test_each_recipe_has_a_question_and_an_answer() -> None:
    for recipe in RECIPES.values():
        assert re.search(r"^\*“.+”\*$", recipe, re.MULTILINE)
        assert any(call.answer for call in calls(recipe))
