"""The code in docs/testing.md and docs/scenarios.md runs, and the format's page names every word and key there is."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from trio_debugmcp import testing
from trio_debugmcp.testing import decode_scenario, play_all
from trio_debugmcp.testing.scenario.script_lines import WORDS, AdapterLine, ClientLine, ExpectLine, ScriptLine, Setting

ROOT = Path(__file__).parent.parent.parent
TESTING = (ROOT / "docs" / "testing.md").read_text(encoding="utf-8")
SCENARIOS = (ROOT / "docs" / "scenarios.md").read_text(encoding="utf-8")
COMMON: dict[str, type[ScriptLine]] = {"adapter": AdapterLine, "client": ClientLine, "expect": ExpectLine}


def blocks(text: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


@pytest.mark.real
def test_the_blocks_of_the_testing_page_are_tests_that_pass(tmp_path: Path) -> None:
    written = blocks(TESTING, "python")
    for number, block in enumerate(written):
        (tmp_path / f"test_block_{number}.py").write_text(block, encoding="utf-8")
    (tmp_path / "scenarios").mkdir()
    for number, block in enumerate(blocks(TESTING, "jsonl")):
        (tmp_path / "scenarios" / f"block-{number}.jsonl").write_text(block, encoding="utf-8")
    (settings,) = blocks(TESTING, "toml")
    (tmp_path / "pyproject.toml").write_text(settings)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=6000, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{len(written) + 1} passed" in done.stdout  # the folder of scenarios is a test for each era


@pytest.mark.parametrize("block", blocks(SCENARIOS, "jsonl"))
def test_the_scenarios_of_the_formats_page_have_no_difference(block: str) -> None:
    for report in play_all(decode_scenario(block)):
        assert report.ok, str(report)


@pytest.mark.parametrize("speaker", WORDS)
def test_the_formats_page_names_every_word_and_key_and_no_other(speaker: str) -> None:
    section = SCENARIOS.partition(f'\n## `"{speaker}"`')[2].partition("\n## ")[0]
    rows = re.findall(r"^\| `(\w+)` \| (.*?) \|", section, re.MULTILINE)
    named = {word: set(re.findall(r"`(\w+)`", keys)) for word, keys in rows}
    common = set(COMMON[speaker].__struct_encode_fields__)
    actual = {word: set(kind.__struct_encode_fields__) - common for word, kind in WORDS[speaker].items()}
    assert named == actual


def test_the_formats_page_names_every_key_of_the_setting_and_no_other() -> None:
    section = SCENARIOS.partition("\n## The setting\n")[2].partition("\n## ")[0]
    assert re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE) == list(Setting.__struct_encode_fields__)


def test_every_public_name_has_a_docstring() -> None:
    assert sorted(testing.__all__) == list(testing.__all__)
    for name in testing.__all__:
        thing = getattr(testing, name)
        assert not callable(thing) or thing.__doc__, name


@pytest.mark.real
def test_the_testing_package_does_without_pytest() -> None:
    script = "import sys; sys.modules['pytest'] = None; import trio_debugmcp.testing"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
