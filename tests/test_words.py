"""scripts/_words.py: what it refuses, and what it leaves alone."""

import importlib.util
import sys
from pathlib import Path

import pytest

PATH = Path(__file__).parent.parent / "scripts" / "_words.py"

_spec = importlib.util.spec_from_file_location("_words", PATH)
assert _spec
assert _spec.loader
words = importlib.util.module_from_spec(_spec)
sys.modules["_words"] = words
_spec.loader.exec_module(words)


def refused(folder: Path, name: str, text: str) -> list[str]:
    """What is refused in a file, as `line: phrase`."""
    file = folder / name
    file.write_text(text)
    return [f"{each.line}: {each.why.partition(':')[0]}" for each in words.in_file(file)]


@pytest.mark.parametrize(
    "phrase",
    [
        "told", "Told", "tells of", "goes on", "went on", "let go", "Let the program go", "nobody", "whoever", "shall",
        "is no JSON", "are no frames", "is none", "speaks of", "the world", "by whose fault", "how manieth", "whilst",
    ],
)  # fmt: skip
def test_phrases_of_the_list_are_refused(phrase: str, tmp_path: Path) -> None:
    assert len(refused(tmp_path, "page.md", f"So here {phrase}.\n")) == 1


@pytest.mark.parametrize(
    "phrase",
    [
        "is no longer", "are no larger than", "is no more than", "there is no session", "There are no tests",
        "is None", "is none of these", "goes on the wire", "shallow", "let it run", "hello world", "tells it",
    ],
)  # fmt: skip
def test_common_english_is_left_alone(phrase: str, tmp_path: Path) -> None:
    assert refused(tmp_path, "page.md", f"So here {phrase}.\n") == []


def test_in_python_docstrings_comments_messages_and_names_are_read(tmp_path: Path) -> None:
    source = '''"""A module that tells
of things."""

WORD = "told"  # and nobody
# It goes
# on here.
told = WORD


def is_told(told: str) -> None:
    raise ValueError(f"{told} is no number")
'''
    assert sorted(refused(tmp_path, "module.py", source)) == [
        "10: 'told'", "11: 'is no number'", "1: 'tells of'", "4: 'nobody'", "4: 'told'", "5: 'goes on'",
    ]  # fmt: skip


def test_a_line_that_says_so_keeps_its_phrase(tmp_path: Path) -> None:
    kept = 'A = "told"  # words: keep, a recording has it\n"""This goes on\nlike that."""  # words: keep\n'
    assert refused(tmp_path, "module.py", kept) == []
    short = 'class Thread:\n    """One thread."""  # words: keep, recordings contain it\n'
    assert refused(tmp_path, "module.py", short) == []
    assert refused(tmp_path, "page.md", "Told\nso. <!-- words: keep -->\n\ntold\n") == ["4: 'told'"]


def test_the_comments_of_other_files_are_read(tmp_path: Path) -> None:
    assert refused(tmp_path, "script", "#!/bin/sh\necho told\n# It goes\n# on.\n") == ["3: 'goes on'"]
    assert refused(tmp_path, "page.js", "told(); // told\n/* It\n * is told */\n") == ["1: 'told'", "3: 'told'"]
    assert refused(tmp_path, "page.css", ".told {} /* told */\n") == ["1: 'told'"]
    assert refused(tmp_path, "page.html", "<p>told</p>\n<!-- told -->\n") == ["2: 'told'"]
    assert refused(tmp_path, "picture.png", "told") == []


@pytest.mark.parametrize(
    ("definition", "says_something"),
    [
        ('class ClientLeft:\n    """It left."""', False),
        ('def wait():\n    """Wait."""', False),
        ('class DebugState:\n    """Parameters of debug_state."""', False),
        ('class Adapter:\n    def id(self):\n        """The adapter\'s."""', False),
        ('QUIET_SECONDS = 1\n"""Quiet."""', False),
        ('EPOCH = 0\n"""Seconds since 1970-01-01 UTC."""', True),
        ('def request():\n    """Send a bounded question."""', True),
        ('def wait():\n    """Wait until the last client has disconnected."""', True),
    ],
)
def test_a_short_docstring_has_to_say_more_than_the_name(definition: str, says_something: bool, tmp_path: Path) -> None:
    assert (refused(tmp_path, "module.py", f"{definition}\n") == []) is says_something


def test_a_docstring_does_not_start_with_a_pronoun(tmp_path: Path) -> None:
    source = 'def wait():\n    """It waits until the last client has disconnected."""\n'
    assert refused(tmp_path, "module.py", source) == [
        "2: a docstring starts with a noun phrase or an imperative, not with a pronoun"
    ]
