"""Packages of npm for tests: `scripts/npm-install` installs what package.json names; programs for node are here too.

What is not installed skips its tests by name; with REQUIRE_JAVASCRIPT=1, as .ci/run sets it, that is a failure.
"""

import os
from pathlib import Path

import pytest

HERE = Path(__file__).parent


def package(path: str) -> Path:
    """Return the place of a file or a folder in node_modules, such as `axe-core/axe.min.js`."""
    found = HERE / "node_modules" / path
    if not found.exists():
        reason = f"{path} is not installed: run scripts/npm-install"
        if os.environ.get("REQUIRE_JAVASCRIPT"):
            pytest.fail(reason)
        pytest.skip(reason)
    return found
