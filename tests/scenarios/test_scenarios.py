"""Plays the scenario files beside this one. Their first line has the title, and the promise that they prove."""

from pathlib import Path

import pytest

from trio_debugmcp.testing import read_scenario, scenarios

HERE = Path(__file__).parent

CHANGES = [
    "launch accepted",
    "attach accepted",
    "process",
    "state change",
    "stopped",
    "continue",
    "step",
    "continued",
    "tracepoint",
    "program resumed by us",
    "thread",
    "breakpoint set, removed, toggled",
    "breakpoint moved by the adapter",
    "module",
    "loadedSource",
    "output",
    "exited, terminated",
    "adapter gone",
]
"""The rows of the contract's table of what changes what."""

EDGE_CASES = [
    "transitional state",
    "rapid changes",
    "very large thread counts",
    "special characters",
    "hit count updates during running",
    "disconnect during a read",
]
"""Those of the specification."""

TIMING = [
    "trailing debounce",
    "per-URI",
    "never later than 0.9 s",
    "the last change is always notified",
    "list_changed immediately",
    "list_changed never coalesced away",
    "after it is readable",
    "a client that joins",
    "gone clients get nothing more",
    "unsubscribed clients get nothing more",
    "each client has its own subscriptions",
    "a slow client delays nobody",
]
"""What the contract says of notifications."""

test_it_goes_as_the_file_says = scenarios(HERE)


@pytest.mark.parametrize("promise", [*CHANGES, *EDGE_CASES, *TIMING])
def test_every_promise_has_a_scenario(promise: str) -> None:
    proven = [read_scenario(file).setting.proves for file in HERE.glob("*.jsonl")]
    assert any(promise in proves for proves in proven)
