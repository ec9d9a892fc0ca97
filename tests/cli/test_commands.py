"""The commands: each is a module, and only the one that is run is imported."""

import pkgutil
import subprocess
import sys

import pytest

from trio_debugmcp import cli


def test_every_module_that_is_a_command_is_one() -> None:
    modules = {module.name for module in pkgutil.iter_modules(cli.__path__)}
    assert {name for name in modules if not name.startswith("_")} == set(cli.COMMANDS)


@pytest.mark.real
def test_only_the_command_that_is_run_is_imported() -> None:
    script = "import sys; from trio_debugmcp.cli import main; main(['vsix', 'no/such/folder']); print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True)
    commands = {name for name in cli.COMMANDS if f"trio_debugmcp.cli.{name}" in loaded.stdout.split()}
    assert commands == {"vsix"}


@pytest.mark.parametrize("words", [[], ["serve"], ["call", "debug_state"], ["--version"]])
def test_windows_is_refused_at_once_with_what_to_do(
    words: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    assert cli.main(words) == 1
    assert "Windows is not supported. Use it in WSL" in capsys.readouterr().err
