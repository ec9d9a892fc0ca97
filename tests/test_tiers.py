"""Each test is in a tier, and runs when its tier says; `scripts/test` and the workflow know the same tiers."""

import os
import re
import subprocess
from collections.abc import Iterable, Mapping
from contextlib import suppress
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from tests import tiers
from tests.pythons import found

ROOT = Path(__file__).parent.parent
OPTIONS = ("", "--quick", "--real", "--nightly")


class Item:
    """A test, as far as its markers go."""

    def __init__(self, marks: Iterable[pytest.MarkDecorator], path: Path, parameters: Mapping[str, object]) -> None:
        self.path = path
        self.callspec = SimpleNamespace(params=parameters)
        self.nodeid = "tests/test_x.py::test_y"
        self.marks = [each.mark for each in marks]

    def add_marker(self, mark: pytest.MarkDecorator) -> None:
        self.marks.append(mark.mark)

    def iter_markers(self, name: str) -> list[pytest.Mark]:
        return [each for each in self.marks if each.name == name]

    def get_closest_marker(self, name: str) -> pytest.Mark | None:
        return next(iter(self.iter_markers(name)), None)


def item(*marks: pytest.MarkDecorator, path: Path = Path(__file__), **parameters: object) -> pytest.Item:
    return cast("pytest.Item", Item(marks, path, parameters))


# --- Markers ----------------------------------------------------------------------------------------------------------


def test_the_markers_of_the_tiers_exist(pytestconfig: pytest.Config) -> None:
    names = {re.split(r"[:(]", line)[0] for line in pytestconfig.getini("markers")}
    assert {"real", "nightly", "both_engines"} <= names


def test_a_test_in_a_folder_of_real_ones_is_real_and_beside_it_is_not() -> None:
    inside, beside = item(path=tiers.HERE / "real" / "test_x.py"), item(path=tiers.HERE / "realistic" / "test_x.py")
    tiers.mark([inside, beside])
    assert [bool(each.get_closest_marker("real")) for each in (inside, beside)] == [True, False]


def test_a_program_in_python_is_debugged_with_both_engines_but_on_a_python_that_the_test_names() -> None:
    real, languages = tiers.HERE / "real" / "test_x.py", tiers.HERE / "languages" / "test_acceptance.py"
    runs = item(path=real), item(path=languages, adapter="debugpy")
    not_again = item(path=real, python=found()[0]), item(path=languages, adapter="gdb"), item()
    tiers.mark([*runs, *not_again])
    assert [bool(each.get_closest_marker("both_engines")) for each in (*runs, *not_again)] == [True] * 2 + [False] * 3
    assert all(Path(path).is_file() for path in {*tiers.ONCE, tiers.SEVERAL_LANGUAGES})


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


class Pythons:
    """Two virtual environments whose Pythons say how they are called, and `scripts/test` with them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name in ("usual", "other"):
            python = folder / name / "bin" / "python"
            python.parent.mkdir(parents=True)
            python.write_text(f'#!/bin/sh\ncase "$2" in pytest) echo "{name}\t$*" >>"{folder}/calls";; esac\n')
            python.chmod(0o755)
            (folder / name / ".installed").touch()

    def ran(self, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run the script, without the variables of this run."""
        (self.folder / "calls").write_text("")
        known = {name: value for name, value in os.environ.items() if name != "REQUIRE_ADAPTERS"}
        return subprocess.run(
            [ROOT / "scripts" / "test", *words],
            env={**known, "TRIO_DEBUGMCP_VENV": str(self.folder / "usual"), **variables},
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )

    @property
    def selected(self) -> dict[str, str]:
        """What each Python was called to run, by markers: all if nothing."""
        calls = (line.split("\t") for line in (self.folder / "calls").read_text().splitlines())
        return {name: (re.findall(r" -m (.*?)(?: -\S|$| tests/)", call[10:]) or ["True"])[0] for name, call in calls}

    def selected_by(self, *words: str) -> dict[str, str]:
        done = self.ran(*words, TRIO_DEBUGMCP_OTHER_VENV=str(self.folder / "other"))
        assert (done.returncode, done.stdout) == (0, "")
        return self.selected


@pytest.fixture
def pythons(tmp_path: Path) -> Pythons:
    return Pythons(tmp_path)


@pytest.mark.real
def test_each_test_is_in_a_tier_and_a_change_runs_all_but_the_nightly_ones(pythons: Pythons) -> None:
    selected = {option: pythons.selected_by(*filter(None, [option]))["usual"] for option in OPTIONS}
    for real, nightly in product((False, True), repeat=2):
        names = {"real": real, "nightly": nightly}
        assert {option: eval(text, names) for option, text in selected.items()} == {
            "": not nightly,
            "--quick": not real and not nightly,
            "--real": real and not nightly,
            "--nightly": True,
        }


@pytest.mark.real
def test_the_second_run_collects_only_from_where_tests_run_twice(pythons: Pythons) -> None:
    pythons.selected_by()
    calls = dict(line.split("\t") for line in (pythons.folder / "calls").read_text().splitlines())
    paths = {f"{ROOT / word}" for word in calls["other"].split() if word.startswith("tests/")}
    assert paths == {path.rstrip("/") for path in (tiers.PROGRAMS, tiers.LANGUAGES, *tiers.ELSEWHERE)}
    assert " tests/" not in calls["usual"]


@pytest.mark.real
def test_what_depends_on_the_engine_runs_again_with_the_other_one(pythons: Pythons) -> None:
    of_a_change = "both_engines and not nightly"
    assert {option: pythons.selected_by(*filter(None, [option])).get("other") for option in OPTIONS} == {
        "": of_a_change,
        "--quick": None,
        "--real": of_a_change,
        "--nightly": "both_engines",
    }
    assert pythons.selected_by("tests/real") == {"usual": "not nightly"}
    assert pythons.selected_by("--other-engine", "tests/real") == {"other": of_a_change}


@pytest.mark.real
def test_without_a_python_for_the_other_engine_it_is_said_and_in_ci_it_fails(pythons: Pythons) -> None:
    done = pythons.ran("--real")
    assert (done.returncode, list(pythons.selected)) == (0, ["usual"])
    assert done.stderr.count("NOT TRIED WITH THE OTHER ENGINE: no Python for it: install 3.13") == 2, "first and last"
    for words, variables in ((["--real"], {"REQUIRE_ADAPTERS": "1"}), (["--other-engine"], {})):
        done = pythons.ran(*words, **variables)
        assert (done.returncode, pythons.selected) == (1, {})
        assert "NOT TRIED WITH THE OTHER ENGINE" in done.stderr


def test_the_workflow_runs_each_tier_as_one_machine_does() -> None:
    workflow = (ROOT / ".github" / "workflows" / "ci.yml").read_text()
    assert set(re.findall(r"job: \[?(\w+)", workflow)) == {"check", "quick", "real", "nightly"}
    assert "3.11\n            3.13\n            ${{ matrix.python }}" in workflow, "a Python for each engine"
    runs = (ROOT / ".ci" / "run").read_text()
    assert "check | quick | real | nightly)" in runs
