"""What a library's object has made of how it was configured: the call that names what is wanted is followed."""

from functools import cache

import pytest

from tests.runs.recorded_programs import python, record
from trio_debugmcp.runs.files.process_record import ProcessRecord
from trio_debugmcp.runs.why import WhyQuestion, why

pytestmark = pytest.mark.real

PROGRAM = """\
import argparse


def add(parser, name, kind):
    parser.add_argument(name, type=kind, default="x")


def read(arguments):
    parser = argparse.ArgumentParser()
    parser.add_argument("--name", default="x")
    parser.add_argument("--dry-run", type=bool, default=False)
    parser.add_argument("--level", default="x")
    group = parser.add_argument_group("more")
    group.add_argument("--quiet", type=bool)
    group.add_argument("--colour")
    add(parser, "--keep-all", bool)
    add(parser, "--first", str)
    add(parser, "--second", str)
    add(parser, "--third", str)
    add(parser, "--fourth", str)
    options = parser.parse_args(arguments)
    dry = options.dry_run
    quiet = options.quiet
    keep = options.keep_all
    return dry, quiet, keep


read(["--dry-run", "no", "--quiet", "no", "--keep-all", "no"])
"""


@cache
def ran() -> ProcessRecord:
    return record(PROGRAM, python(3, 12)).processes[0]


def lines_of(name: str) -> dict[int, str]:
    found = why(ran(), WhyQuestion(expression=f"{name}"))
    return {line.line: f"{line.values} {line.notes}" for line in found.because}


def test_the_call_that_names_what_is_wanted_is_shown_and_others_of_its_function_are_not() -> None:
    lines = lines_of("dry")
    assert "add_argument was called on it; its content is not recorded" in lines[11]
    assert 10 not in lines
    assert 12 not in lines


def test_a_call_whose_argument_had_that_name_is_shown_in_that_round() -> None:
    lines = lines_of("keep")
    assert "name='--keep-all'" in lines[5]
    assert 16 in lines  # which has called it


def test_a_call_on_what_the_object_gave_is_shown_too() -> None:
    assert "add_argument was called on what add_argument_group of it gave" in lines_of("quiet")[14]
