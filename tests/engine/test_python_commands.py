"""Which commands run Python (engine/inside/python_commands.py)."""

import os
import sys
from pathlib import Path

import pytest

from trio_debugmcp.engine.inside.python_commands import is_python, names_python, on_path, runs_python

HERE = os.fsencode(sys.executable)
SHELL = b"/bin/sh"


@pytest.mark.parametrize("name", [b"python", b"python3", b"python3.13t", b"python3-dbg", b"pythonw"])
def test_an_interpreter_is_known_by_its_name(name: bytes) -> None:
    assert is_python(name)
    assert names_python(b"cd /app && exec /usr/bin/%s -m job" % name)


@pytest.mark.parametrize("name", [b"ipython", b"python3-config", b"pythontex", b"cpython", b"python_tool"])
def test_what_only_has_the_word_in_its_name_is_not_one(name: bytes) -> None:
    assert not is_python(name)
    assert not names_python(b"cd /opt/python/bin; %s -x" % name)


@pytest.mark.parametrize(
    ("words", "runs"),
    [
        ([b"x.py"], True),
        ([b"-u", b"-X", b"utf8", b"-W", b"error", b"x.py", b"-I"], True),
        ([b"-c", b"from multiprocessing.spawn import spawn_main; spawn_main()"], True),
        ([b"-mIES"], True),
        ([b"-uI", b"x.py"], False),
        ([b"-E", b"x.py"], False),
        ([b"-B", b"-c", b"from multiprocessing.resource_tracker import main;main(3)"], False),
    ],
)
def test_an_interpreter_that_does_not_look_for_the_directory_is_left_alone(words: list[bytes], *, runs: bool) -> None:
    assert runs_python([HERE], [b"python", *words]) is runs


def test_scripts_are_known_by_their_first_line_and_links_by_what_they_lead_to(tmp_path: Path) -> None:
    def runs(name: str, text: str) -> bool:
        (tmp_path / name).write_text(text)
        return runs_python([os.fsencode(tmp_path / name)], [name.encode()])

    assert runs("a", f"#!{sys.executable} -u\n")
    assert runs("b", "#!/usr/bin/env -S python3 -u\n")
    assert runs("c", "#! /bin/sh\nexec python3 -m job\n")
    assert not runs("d", "#!/bin/sh\nexec ls\n")
    assert not runs("e", f"#!{sys.executable} -I\n")
    assert not runs("f", "\x7fELF python")
    (tmp_path / "link").symlink_to(sys.executable)
    assert runs_python([b"/nobody", os.fsencode(tmp_path / "link")], [b"link"])
    assert not runs_python([os.fsencode(tmp_path / "nobody")], [b"python"])


def test_a_shell_runs_what_its_command_names(tmp_path: Path) -> None:
    script = tmp_path / "job"
    script.write_text(f"#!{sys.executable}\n")
    run = tmp_path / "run.sh"
    run.write_text("set -e\npython3 -m job\n")
    assert runs_python([SHELL], [SHELL, b"-c", b"A=b python x.py"])
    assert runs_python([SHELL], [SHELL, b"-c", os.fsencode(script) + b" --all"])
    assert runs_python([SHELL], [SHELL, b"-e", os.fsencode(run)])
    assert not runs_python([SHELL], [SHELL, b"-c", b"env"])
    assert not runs_python([SHELL], [SHELL])
    assert runs_python(on_path(b"env", os.environb.get(b"PATH")), [b"env", b"A=b", b"python3", b"x.py"])
    assert not runs_python(on_path(b"env", None), [b"env"])
