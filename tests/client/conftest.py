"""Both eras for each test that asks for a `peer`, and no test that waits for ever."""

from collections.abc import Awaitable, Callable
from functools import partial
from inspect import iscoroutinefunction
from pathlib import Path
from typing import Any

import pytest
import trio

from .peer import Peer

HERE = Path(__file__).parent

VIRTUAL_PATIENCE = 5000.0
"""Seconds on a clock that jumps: longer than any test sleeps; what never happens is a failure at once."""

REAL_PATIENCE = 120.0
"""Seconds on a real clock."""


@pytest.fixture(params=["legacy", "modern"])
def peer(request: pytest.FixtureRequest) -> Peer:
    """A scripted server; each test that asks for it runs in both eras."""
    return Peer(modern=request.param == "modern")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(HERE) and iscoroutinefunction(getattr(item, "obj", None)):
            virtual = "autojump_clock" in getattr(item, "fixturenames", ())
            run = partial(run_bounded, VIRTUAL_PATIENCE if virtual else REAL_PATIENCE)
            item.add_marker(pytest.mark.trio(run=run), append=False)


def run_bounded(patience: float, test: Callable[..., Awaitable[None]], *args: Any, **options: Any) -> None:
    """As `trio.run`, but a test that waits for what never happens fails."""

    async def bounded() -> None:
        with trio.fail_after(patience):
            await test(*args)

    trio.run(bounded, **options)
