"""`trio-debugmcp adapters --check` with real adapters: all that our tests use, and three that do not work."""

import json
from pathlib import Path

import pytest

from tests import warm
from tests.languages.conftest import installed, need
from trio_debugmcp.cli import main
from trio_debugmcp.dap.profiles import PROFILES, TableProfile, profile_named

BROKEN = """
[adapters.broken]
language = "Python"
detect = { suffixes = [".py"] }
find = ["sh"]
command = ["{adapter}", "-c", "echo this is no adapter >&2; exit 3"]
launch = {}

[adapters.blind]
language = "Python"
detect = { suffixes = [".py"] }
find = ["{scripts}/debugpy-adapter"]
command = ["{adapter}"]
program-streams = "terminal"
launch = { program = "{program}", console = "integratedTerminal", rules = [{ path = "**", include = false }] }

[adapters.mute]
language = "Python"
detect = { suffixes = [".py"] }
find = ["{scripts}/debugpy-adapter"]
command = ["{adapter}"]
launch = { program = "{program}", console = "internalConsole", redirectOutput = false }
"""


def test_a_program_is_really_debugged_and_a_failure_names_its_step(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bash = profile_named("bash-dap")
    assert bash is not None
    need("bash-dap", bash.locate(), f"{bash.absence()}; {bash.install_hint}")
    (tmp_path / "broken.toml").write_text(BROKEN)
    names = ["bash-dap", "broken", "blind", "mute"]
    words = ["adapters", "--adapters", str(tmp_path / "broken.toml"), "--json", "--check", *names]
    assert main(words) == 1
    broken, blind, mute, works = json.loads(capsys.readouterr().out)
    assert [each["name"] for each in (broken, blind, mute, works)] == ["broken", "blind", "mute", "bash-dap"]
    assert works["check"]["ok"] is True
    assert 0 < works["check"]["seconds"] < 60
    assert (broken["check"]["ok"], broken["check"]["step"]) == (False, "debug_launch")
    assert broken["check"]["problem"].startswith("broken did not launch: the debug adapter closed the connection. ")
    assert broken["check"]["problem"].endswith("It wrote: this is no adapter")
    assert (blind["check"]["ok"], blind["check"]["step"]) == (False, "debug_launch")
    assert '"notes":["no stop at bp-1' in blind["check"]["problem"]
    assert (mute["check"]["ok"], mute["check"]["step"]) == (False, "output")
    assert mute["check"]["problem"].startswith("the program's output has no 'total 42': ")


TESTED = [profile.name for profile in PROFILES if not isinstance(profile, TableProfile) or profile.table.tested]


@pytest.mark.parametrize("adapter", TESTED)
def test_every_adapter_that_is_tested_debugs_the_program_of_its_language(
    adapter: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    installed(adapter)
    monkeypatch.setattr("trio_debugmcp.cli._install.own_command", warm.server)
    assert main(["adapters", "--json", "--check", adapter]) == 0
    (status,) = json.loads(capsys.readouterr().out)
    assert (status["name"], status["check"]["ok"]) == (adapter, True), status
