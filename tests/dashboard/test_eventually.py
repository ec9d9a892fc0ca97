"""What is read of the page is waited for, and named when it does not come."""

import pytest

from tests.dashboard import eventually as waits

pytest.importorskip("playwright.sync_api", reason="playwright is not installed: pip install playwright")


def test_a_value_is_read_until_it_holds_also_when_it_cannot_be_read_for_a_moment() -> None:
    from playwright.sync_api import Error

    moments = iter([1, Error("the row is gone"), 3])

    def read() -> int:
        moment = next(moments)
        if isinstance(moment, Error):
            raise moment
        assert isinstance(moment, int)
        return moment

    assert waits.eventually(read, lambda value: value > 1) == 3


def test_what_does_not_come_is_named_with_what_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waits, "PAGE_SECONDS", 0)
    with pytest.raises(AssertionError, match="what is read stays 1, and should be 2"):
        waits.becomes(lambda: 1, 2)
