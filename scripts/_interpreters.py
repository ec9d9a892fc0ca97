"""Debugs a program with every Python on this machine, and prints what works. Run by scripts/interpreters."""

import argparse
import sys
from pathlib import Path

import trio

sys.path.insert(0, str(Path(__file__).parent.parent))

from tests.pythons import Interpreter, found
from tests.real.interpreters import OLDEST, debug, refusal_of
from trio_debugmcp.testing import connect_stdio

SECONDS = 90


def main() -> int:
    argparse.ArgumentParser(prog="scripts/interpreters", description=__doc__).parse_args()
    failed = 0
    for each in found():
        try:
            print(f"{each.label}: {trio.run(tried, each)}", flush=True)
        except* Exception as errors:  # noqa: BLE001 (the others are to be tried all the same)
            failed += 1
            print(f"{each.label}: FAILED: {errors.exceptions}", flush=True)
    return 1 if failed else 0


async def tried(interpreter: Interpreter) -> str:
    with trio.fail_after(SECONDS):
        async with connect_stdio() as client:
            if interpreter.version < OLDEST:
                return f"refused: {await refusal_of(client, interpreter)}"
            return ", ".join(await debug(client, interpreter))


if __name__ == "__main__":
    sys.exit(main())
