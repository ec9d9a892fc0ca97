"""Injects every fault in every phase, prints the matrix, and writes docs/faults.md. Run by scripts/faults."""

import argparse
import logging
import sys
from pathlib import Path

import trio
from trio.testing import MockClock

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from tests.faults.bench import try_all  # noqa: E402
from tests.faults.outcomes import declared, document  # noqa: E402
from tests.faults.phases import PHASES  # noqa: E402
from trio_debugmcp.testing.faults import FAULTS  # noqa: E402


def main() -> int:
    argparse.ArgumentParser(prog="scripts/faults", description=__doc__).parse_args()
    logging.disable(logging.CRITICAL)
    tried: dict[str, dict[str, str]] = {fault.name: {} for fault in FAULTS}
    for phase in PHASES:
        for name, outcome in trio.run(try_all, phase, clock=MockClock(autojump_threshold=0)).items():
            tried[name][phase.name] = outcome
    _print(tried)
    expected = declared()
    different = [(name, where) for name, row in tried.items() for where in row if row[where] != expected[name][where]]
    for name, where in different:
        print(f"{name}, {where}: {tried[name][where]}, expected {expected[name][where]}")
    if different:
        return 1
    (ROOT / "docs" / "faults.md").write_text(document(tried), encoding="utf-8")
    print(f"{sum(map(len, tried.values()))} cells as declared; docs/faults.md is written")
    return 0


def _print(tried: dict[str, dict[str, str]]) -> None:
    names = max(map(len, tried))
    widths = [max(len(phase.name), *(len(_short(row[phase.name])) for row in tried.values())) for phase in PHASES]
    print(" " * names, *(phase.name.ljust(width) for phase, width in zip(PHASES, widths, strict=True)))
    for name, row in tried.items():
        cells = (_short(row[phase.name]).ljust(width) for phase, width in zip(PHASES, widths, strict=True))
        print(name.ljust(names), *cells)


def _short(outcome: str) -> str:
    return outcome[:24]


if __name__ == "__main__":
    sys.exit(main())
