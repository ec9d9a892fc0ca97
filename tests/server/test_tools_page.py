"""docs/tools.md has every tool, every parameter and every key of an answer."""

import msgspec

from tests.server.tools_page import PAGE, answers_of, document
from trio_debugmcp.server.answers.stop_answer import StopAnswer, StopData
from trio_debugmcp.server.tools import open_toolbox


def test_the_page_about_tools_is_current() -> None:
    assert PAGE.read_text(encoding="utf-8") == document(), "run python -m tests.server.tools_page"


def test_the_page_has_every_tool_with_its_parameters_also_those_that_are_not_listed() -> None:
    page = PAGE.read_text(encoding="utf-8")
    sections = {each.partition("`")[0]: each for each in page.split("\n## `")[1:]}
    assert list(sections) == open_toolbox().names
    for tool in open_toolbox().tools:
        for field in msgspec.structs.fields(tool.params):
            assert f"\n| `{field.encode_name}` | " in sections[tool.name], (tool.name, field.encode_name)
        for answer in answers_of(tool):
            assert answer is StopAnswer or answer.__doc__


def test_the_page_explains_every_key_of_a_stop() -> None:
    stop = PAGE.read_text(encoding="utf-8").partition("## The stop")[2].partition("\n## ")[0]
    data = stop.partition("As data, with `full`")[2]
    assert all(f"`{each.encode_name}`" in data for each in msgspec.structs.fields(StopData))
    keys = {key for row in stop.splitlines() if row.startswith("| `") for key in row.split("|")[1].split("`")[1::2]}
    assert keys == {field.encode_name for field in msgspec.structs.fields(StopAnswer) if field.name != "full"}
