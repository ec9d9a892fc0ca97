"""What tests of sessions share."""

from collections.abc import Callable

import pytest
import trio


@pytest.fixture
def without_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """Search files where the clock waits for it: one that jumps does so while threads run."""

    async def run(find: Callable[[], object], *, abandon_on_cancel: bool) -> object:
        return find()

    monkeypatch.setattr(trio.to_thread, "run_sync", run)
