"""Shared by all tests: settings of hypothesis, coverage, tiers, the end of warm servers. House rules: README.md."""

import gc
import os
import sys
import tempfile
from collections.abc import Generator
from pathlib import Path

import pytest
from hypothesis import settings

from tests import measured, tiers, warm
from tests.patience import FACTOR

settings.register_profile("suite", deadline=None, derandomize=True, database=None)
settings.register_profile("long", deadline=None, max_examples=3000, database=None, print_blob=True)
settings.register_profile("round", deadline=None, database=None, print_blob=True)
settings.load_profile("suite")

# Hundreds of processes import the same modules: compiled once, whatever the environment says.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# Where scripts/adapters-install puts the debug adapters.
os.environ.setdefault("TRIO_DEBUGMCP_ADAPTERS_DIR", str(Path(__file__).parent.parent / ".adapters"))
# No table of the user who runs the tests. A browser may write there.
_CONFIGURATION = tempfile.TemporaryDirectory(prefix="no-configuration-")
os.environ["XDG_CONFIG_HOME"] = _CONFIGURATION.name

# Servers keep nothing in the home of the user who runs the tests; a test of that has a directory of its own.
os.environ["XDG_STATE_HOME"] = "/dev/null/state"

# Programs run on the Python that runs the tests, which need not be that of the clone's `.venv`.
if sys.prefix != sys.base_prefix:
    os.environ["VIRTUAL_ENV"] = sys.prefix

# For servers that are started from here: tests/patience.py says why.
os.environ["TRIO_DEBUGMCP_PATIENCE"] = f"{FACTOR:g}"

measured.start()  # before the first test module imports the package

gc.disable()  # until the tests are there: the collector would look again and again through what all stays


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    tiers.mark(items)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None, object, object]:
    with tiers.guarded(item):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    with tiers.guarded(item):
        return (yield)


def pytest_collection_finish(session: pytest.Session) -> None:
    gc.freeze()  # what is imported now stays
    gc.enable()


def pytest_sessionfinish(session: pytest.Session) -> None:
    warm.close()
    measured.stop()
