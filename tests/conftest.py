"""House rules of these tests.

- A test's name is a sentence about behaviour; the whole conversation stands in its body.
- Pure rooms are tested with plain asserts. What has to do with time runs on a virtual clock that jumps
  (`autojump_clock`), with exact times and no sleeping for luck.
- Never let a clock jump while real processes or sockets are about: waiting for them counts as idle. Tests
  with real ones are marked `real`, are few, and have a bound each.
- No mocks where a fake peer on a memory stream serves: see `trio_debugmcp.testing`.
"""

import pytest
from hypothesis import settings

from tests import warm

settings.register_profile("suite", deadline=None, derandomize=True, database=None)
settings.register_profile("long", deadline=None, max_examples=3000, database=None, print_blob=True)
settings.load_profile("suite")


def pytest_sessionfinish(session: pytest.Session) -> None:
    warm.close()
