"""The fault matrix: every fault of the kit in every phase, on a virtual clock, through real tools and clients."""

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest
from trio.testing import MockClock

from tests.faults.bench import try_all
from tests.faults.outcomes import OUTCOMES, declared, document
from tests.faults.phases import PHASES, Phase
from trio_debugmcp.testing.faults import FAULTS

DOCUMENT = Path(__file__).parent.parent.parent / "docs" / "faults.md"


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """Hundreds of faults are worth no log."""
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


@pytest.mark.parametrize("phase", PHASES, ids=lambda phase: phase.name)
async def test_every_fault_ends_in_the_declared_state_with_nothing_left_and_the_next_launch_works(
    phase: Phase, autojump_clock: MockClock
) -> None:
    assert await try_all(phase) == {fault: row[phase.name] for fault, row in declared().items()}


def test_every_fault_of_the_kit_is_declared_and_described_once() -> None:
    assert [fault.name for fault in FAULTS] == list(OUTCOMES)
    assert len({fault.description for fault in FAULTS}) == len(FAULTS)


def test_the_page_about_faults_is_current() -> None:
    assert DOCUMENT.read_text(encoding="utf-8") == document(declared()), "run scripts/faults"
