"""The parser of the command line: what is wrong is one sentence, with what may have been meant, and exit code 2."""

import argparse
import re
import sys
from collections.abc import Sequence
from typing import NoReturn

_UNRECOGNIZED = re.compile(r"unrecognized arguments: (.*)", re.DOTALL)

_NO_COMMAND = re.compile(r"argument COMMAND: invalid choice: '(.*?)' \(.*", re.DOTALL)

_MEANT = {
    "run": "shell",
    "debug": "shell",
    "start": "serve",
    "server": "serve",
    "version": "--version",
    "help": "--help",
}
"""Commands of other programs, and what comes near them here."""

_PROGRAM = re.compile(r".+\.\w{1,5}")
"""What looks like a program to debug."""

_DEBUG = (
    "A program is debugged by an agent, through its host (`serve`), "
    "or by hand with `trio-debugmcp shell -- trio-debugmcp`"
)


class UsageParser(argparse.ArgumentParser):
    """A parser that suggests, and prints no list of everything that it knows.

    Attributes:
        commands: all that there are; `chosen`: the parser of the one that is meant, once it is known.
    """

    commands: Sequence[str] = ()
    chosen: argparse.ArgumentParser | None = None

    def error(self, message: str) -> NoReturn:
        """Print the sentence and exit with 2."""
        parser = self.chosen or self
        unknown, command = _UNRECOGNIZED.fullmatch(message), _NO_COMMAND.fullmatch(message)
        if command is not None:
            message = _about_command(command[1], self.commands)
        elif unknown is not None:
            message = _about_options(unknown[1].split(), re.findall(r"--[a-z][\w-]+", parser.format_help()))
        print(f"{parser.prog}: {message}; see {parser.prog} --help", file=sys.stderr)
        sys.exit(2)


def _about_command(word: str, commands: Sequence[str]) -> str:
    """Return the sentence about a command that there is not."""
    if _PROGRAM.fullmatch(word):
        return f"there is no command {word}. {_DEBUG}"
    near = [_MEANT[word]] if word in _MEANT else _close_to(word, commands)
    meant = f"did you mean {near[0]}?" if near else f"there are: {', '.join(commands)}"
    more = f" {_DEBUG}" if word in ("run", "debug") else ""
    return f"there is no command '{word}', {meant}{more}"


def _about_options(words: Sequence[str], options: Sequence[str]) -> str:
    """Return the sentence about words that a command does not take."""
    shown = f"unrecognized: {' '.join(words)}"
    option = next((word.partition("=")[0] for word in words if word.startswith("-")), None)
    near = [] if option is None else _close_to(option, options)
    return f"{shown}, did you mean {near[0]}?" if near else shown


def _close_to(word: str, words: Sequence[str]) -> list[str]:
    from difflib import get_close_matches  # for a mistake only: it takes as long to import as all of `kept`

    return get_close_matches(word, words, n=1)
