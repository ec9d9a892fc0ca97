"""Shared by all tests: settings of hypothesis, and the end of warm servers. The house rules are in README.md."""

import pytest
from hypothesis import settings

from tests import warm

settings.register_profile("suite", deadline=None, derandomize=True, database=None)
settings.register_profile("long", deadline=None, max_examples=3000, database=None, print_blob=True)
settings.load_profile("suite")


def pytest_sessionfinish(session: pytest.Session) -> None:
    warm.close()
