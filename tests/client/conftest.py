"""The fixture `peer`, which makes a test run in both eras; a bound for each asynchronous test."""

from collections.abc import Awaitable, Callable
from functools import partial
from inspect import iscoroutinefunction
from pathlib import Path
from typing import Any

import pytest
import trio

from tests.client.peer import Peer

HERE = Path(__file__).parent

VIRTUAL_PATIENCE_SECONDS = 5000.0
"""On a clock that jumps: longer than any test sleeps, so that a test which waits in vain fails at once."""

REAL_PATIENCE_SECONDS = 120.0
"""On a real clock: ten times what the slowest test needs."""


@pytest.fixture(params=["legacy", "modern"])
def peer(request: pytest.FixtureRequest) -> Peer:
    """A scripted server; each test that asks for it runs in both eras."""
    return Peer(modern=request.param == "modern")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(HERE) and iscoroutinefunction(getattr(item, "obj", None)):
            virtual = "autojump_clock" in getattr(item, "fixturenames", ())
            run = partial(run_bounded, VIRTUAL_PATIENCE_SECONDS if virtual else REAL_PATIENCE_SECONDS)
            item.add_marker(pytest.mark.trio(run=run), append=False)


def run_bounded(patience: float, test: Callable[..., Awaitable[None]], *args: Any, **options: Any) -> None:
    """Run `test` as `trio.run` does, with a time limit."""

    async def bounded() -> None:
        with trio.fail_after(patience):
            await test(*args)

    trio.run(bounded, **options)
