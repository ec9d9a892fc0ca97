"""The text that a process runs: that of the time when it began, whatever other processes run."""

import os
from pathlib import Path

import pytest

from trio_debugmcp.session.host import Host
from trio_debugmcp.session.looking import sources as sources_module
from trio_debugmcp.session.looking.sources import RunningSource, Sources

HOST = Host()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "job.py"


def write(file: Path, text: str, when: float) -> None:
    file.write_text(text)
    os.utime(file, (when, when))


def known(file: Path) -> Sources:
    sources = Sources()
    sources.learn(str(file), "s-1")
    return sources


def test_a_process_that_began_after_an_edit_runs_the_new_text_and_one_from_before_the_old_one(file: Path) -> None:
    sources = known(file)
    write(file, "rate = 10\n", 100)
    assert sources.running(str(file), 150, HOST) == RunningSource("rate = 10\n")
    write(file, "rate = 99\n", 200)
    for _ in range(2):
        assert sources.running(str(file), 250, HOST) == RunningSource("rate = 99\n")
        before = RunningSource("rate = 10\n", edited=True, from_before=True)
        assert sources.running(str(file), 150, HOST) == before
    write(file, "rate = 7\n", 300)
    assert sources.running(str(file), 350, HOST) == RunningSource("rate = 7\n")
    assert sources.running(str(file), 250, HOST).text == "rate = 99\n"
    assert sources.running(str(file), 150, HOST).text == "rate = 10\n"


def test_what_a_process_ran_before_an_edit_that_came_before_the_first_look_is_not_claimed(file: Path) -> None:
    sources = known(file)
    write(file, "rate = 99\n", 200)
    assert sources.running(str(file), 150, HOST) == RunningSource("rate = 99\n", edited=True)
    write(file, "rate = 7\n", 300)
    assert sources.running(str(file), 150, HOST) == RunningSource("rate = 7\n", edited=True)
    assert sources.running(str(file), 250, HOST).text == "rate = 99\n"


def test_texts_of_stops_are_those_of_their_processes_and_the_same_object_as_long_as_they_are_equal(file: Path) -> None:
    sources = known(file)
    write(file, "rate = 10\n", 100)
    first = sources.version(str(file), 150, HOST)
    assert first is sources.version(str(file), 160, HOST) is not None
    write(file, "rate = 99\n", 200)
    second = sources.version(str(file), 250, HOST)
    assert second is not None
    assert (second.text, sources.version(str(file), 150, HOST)) == ("rate = 99\n", first)


def test_without_the_time_when_it_began_a_text_that_was_read_is_kept(file: Path) -> None:
    sources = known(file)
    write(file, "rate = 10\n", 100)
    assert sources.running(str(file), None, HOST) == RunningSource("rate = 10\n")
    write(file, "rate = 99\n", 200)
    assert sources.running(str(file), None, HOST).from_before


def test_the_texts_that_were_not_asked_for_the_longest_are_forgotten_beyond_the_bound(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sources_module, "MAX_READ_CHARACTERS", 100)
    sources, host = Sources(), Host()
    files = [tmp_path / f"{name}.py" for name in "abc"]
    for file in files:
        write(file, f"# {file.stem}\n" + "#" * 36, 100.0)
        sources.learn(str(file), "s-1")
    for file in (files[0], files[1], files[0], files[2]):
        sources.running(str(file), None, host)
    for file in files:
        write(file, "new\n", 200.0)
    from_before = [sources.running(str(file), None, host).from_before for file in files]
    assert from_before == [True, False, True]
    assert sources.running(str(files[1]), None, host).text == "new\n"
