"""Each test is in a tier, and runs when its tier says; `scripts/test` and the workflow know the same tiers."""

import os
import re
import subprocess
from contextlib import suppress
from itertools import product
from pathlib import Path
from typing import cast

import pytest

from tests import tiers

ROOT = Path(__file__).parent.parent
OPTIONS = ("", "--quick", "--real", "--nightly")


class Item:
    """A test, as far as its markers go."""

    def __init__(self, *marks: pytest.MarkDecorator, path: Path = Path(__file__)) -> None:
        self.path = path
        self.nodeid = "tests/test_x.py::test_y"
        self.marks = [each.mark for each in marks]

    def add_marker(self, mark: pytest.MarkDecorator) -> None:
        self.marks.append(mark.mark)

    def iter_markers(self, name: str) -> list[pytest.Mark]:
        return [each for each in self.marks if each.name == name]

    def get_closest_marker(self, name: str) -> pytest.Mark | None:
        return next(iter(self.iter_markers(name)), None)


def item(*marks: pytest.MarkDecorator, path: Path = Path(__file__)) -> pytest.Item:
    return cast("pytest.Item", Item(*marks, path=path))


# --- Markers ----------------------------------------------------------------------------------------------------------


def test_the_markers_of_the_tiers_exist(pytestconfig: pytest.Config) -> None:
    names = {re.split(r"[:(]", line)[0] for line in pytestconfig.getini("markers")}
    assert {"real", "nightly"} <= names


def test_a_test_in_a_folder_of_real_ones_is_real_and_beside_it_is_not() -> None:
    inside, beside = item(path=tiers.HERE / "real" / "test_x.py"), item(path=tiers.HERE / "realistic" / "test_x.py")
    tiers.mark([inside, beside])
    assert [bool(each.get_closest_marker("real")) for each in (inside, beside)] == [True, False]


@pytest.mark.parametrize("marker", [pytest.mark.nightly, pytest.mark.nightly(), pytest.mark.nightly("")])
def test_a_nightly_test_gives_its_reason(marker: pytest.MarkDecorator) -> None:
    with pytest.raises(pytest.UsageError, match=r"test_y: `nightly` needs its reason"):
        tiers.mark([item(marker)])
    tiers.mark([item(pytest.mark.nightly("it takes a minute"))])


def test_a_test_that_is_not_real_fails_if_it_starts_a_process_even_if_it_hides_the_refusal() -> None:
    with (
        pytest.raises(pytest.fail.Exception, match=r"not marked `real`, but: subprocess\.Popen"),
        tiers.guarded(item()),
        suppress(RuntimeError),
    ):
        subprocess.Popen(["true"])


# --- scripts/test and the workflow ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def selections(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What each option of `scripts/test` selects by markers; all tests if nothing."""
    environment = tmp_path_factory.mktemp("environment")
    python = environment / "bin" / "python"
    python.parent.mkdir()
    python.write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n')
    python.chmod(0o755)
    (environment / ".installed").touch()
    selected = {}
    for option in OPTIONS:
        words = [str(ROOT / "scripts" / "test"), *filter(None, [option])]
        variables = {**os.environ, "TRIO_DEBUGMCP_VENV": str(environment)}
        ran = subprocess.run(words, env=variables, capture_output=True, text=True, check=True, timeout=60)
        given = ran.stdout.splitlines()
        selected[option] = given[given.index("-m", 2) + 1] if "-m" in given[2:] else "True"
    return selected


@pytest.mark.real
def test_each_test_is_in_a_tier_and_a_change_runs_all_but_the_nightly_ones(selections: dict[str, str]) -> None:
    for real, nightly in product((False, True), repeat=2):
        runs = {option: eval(text, {"real": real, "nightly": nightly}) for option, text in selections.items()}
        assert runs == {
            "": not nightly,
            "--quick": not real and not nightly,
            "--real": real and not nightly,
            "--nightly": True,
        }


def test_the_workflow_runs_each_tier_as_one_machine_does() -> None:
    workflow = (ROOT / ".github" / "workflows" / "ci.yml").read_text()
    assert set(re.findall(r"job: \[?(\w+)", workflow)) == {"check", "quick", "real", "nightly"}
    runs = (ROOT / ".ci" / "run").read_text()
    assert "check | quick | real | nightly)" in runs
