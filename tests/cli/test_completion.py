"""`trio-debugmcp completion`: the script is shtab's; what it is made of is our parser with every command."""

import sys
from types import ModuleType

import pytest

from trio_debugmcp.cli import COMMANDS, made_parser, main


def test_the_script_is_made_of_the_parser_of_all_commands(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Shtab(ModuleType):
        @staticmethod
        def complete(parser: object, shell: str) -> str:
            return f"{shell}: {getattr(parser, 'prog', '')}"

    monkeypatch.setitem(sys.modules, "shtab", Shtab("shtab"))
    assert main(["completion", "zsh"]) == 0
    assert capsys.readouterr().out == "zsh: trio-debugmcp\n"
    _, commands = made_parser()
    assert tuple(commands.choices) == COMMANDS


def test_without_shtab_the_command_says_how_to_get_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "shtab", None)
    assert main(["completion", "bash"]) == 1
    assert "shtab" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["skill", "--install", "/proc/x"], "trio-debugmcp skill: cannot write /proc/x: No such file or directory"),
        (["scenario", "nosuch"], "trio-debugmcp scenario: cannot read nosuch: No such file or directory"),
        (["scenario", "--from", "nosuch"], "trio-debugmcp scenario: cannot read nosuch: No such file or directory"),
    ],
)
def test_what_the_system_refuses_is_a_sentence(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 1
    assert capsys.readouterr().err.rstrip() == said
