"""`scenarios`: makes every scenario file of a folder a test of pytest, in each of its protocol eras. Needs pytest."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from trio_debugmcp.testing.scenario.player import play_in, read_scenario
from trio_debugmcp.testing.scenario.script_lines import BadScenario, Era, Scenario


def scenarios(path: str | Path) -> Callable[..., None]:
    """Make a test for pytest, with one case for each scenario file and each of its eras. Assign it to a `test_` name.

    A case that fails shows the timeline with its differences. A file that cannot be decoded is a case that fails.

    Raises:
        FileNotFoundError: there is no `*.jsonl` at the path.
    """
    import pytest

    cases = [pytest.param(scenario, era, id=f"{name}-{era}") for name, scenario, era in _cases(Path(path))]

    @pytest.mark.parametrize(("scenario", "era"), cases)
    def test(scenario: Scenario | BadScenario, era: Any) -> None:
        if isinstance(scenario, BadScenario):
            pytest.fail(str(scenario), pytrace=False)
        report = play_in(scenario, era)
        if not report.ok:
            pytest.fail(str(report), pytrace=False)

    checked: Callable[..., None] = test
    return checked


def _cases(path: Path) -> Iterator[tuple[str, Scenario | BadScenario, Era | None]]:
    files = sorted(path.glob("*.jsonl")) if path.is_dir() else [path]
    if not files or not files[0].exists():
        raise FileNotFoundError(f"no scenario files (*.jsonl) in {path}")
    for file in files:
        try:
            scenario = read_scenario(file)
        except BadScenario as error:
            yield file.stem, error, None
        else:
            for era in scenario.setting.eras:
                yield file.stem, scenario, era
