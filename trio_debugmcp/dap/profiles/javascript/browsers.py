"""Browsers of the Chromium kind on this machine: found, and the arguments with which one is run for a debugger.

    browser_at(None)                    # "/usr/bin/chromium", None if there is none
    browser_at("google-chrome")         # the one that a user names
    browser_arguments(headed=False)     # ["--headless=new", …]

Others are not driven by the debugger.
"""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from trio_debugmcp.home import expanded

VARIABLES = ("CHROME_PATH", "CHROME_BIN")
"""Name the browser, as other tools of front ends take them."""

_NAMES = (
    *("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"),
    *("microsoft-edge", "microsoft-edge-stable", "msedge", "brave-browser"),
)

_APPLICATIONS = (
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge",
)

_CACHES = (
    ("~/.cache/puppeteer", "chrome/*/chrome-*/chrome"),
    ("~/.cache/ms-playwright", "chromium-*/chrome-*/chrome"),
    ("~/Library/Caches/ms-playwright", "chromium-*/chrome-*/Chromium.app/Contents/MacOS/Chromium"),
)
"""Where puppeteer and playwright put the browsers that they download."""

_NO_ADDRESS_BAR = "--disable-features=WebUIOmniboxPopup,WebUIOmniboxAimPopup"
"""Without the two pages of the address bar, which take more than half the processor time of a browser's start."""

INSTALL = "apt-get install chromium, or npx playwright install chromium"


def browser_at(wanted: str | None) -> str | None:
    """Return the path of the browser that is wanted, or of the first that is found; None if there is none.

    `wanted`: a path, or a name on PATH.
    """
    if wanted is not None:
        return shutil.which(str(expanded(wanted)) if wanted.startswith("~") else wanted)
    return next(filter(None, map(shutil.which, _candidates())), None)


def places() -> str:
    """Return where a browser is looked for, as a person would say it."""
    variables = ", ".join(f"${name}" for name in VARIABLES)
    return f"{variables}, {', '.join(_NAMES[:4])} and others on PATH, and what puppeteer and playwright have downloaded"


def browser_arguments(*, headed: bool) -> list[str]:
    """Return the arguments of a browser that is run for one page and forgotten."""
    arguments = [] if headed else ["--headless=new", "--disable-gpu", _NO_ADDRESS_BAR]
    return [*arguments, "--disable-dev-shm-usage", *(["--no-sandbox"] if needs_no_sandbox() else [])]


def needs_no_sandbox() -> bool:
    """Whether a browser refuses to start in its sandbox: as root."""
    return os.geteuid() == 0


def _candidates() -> Iterator[str]:
    for name in VARIABLES:
        if os.environ.get(name):
            yield os.environ[name]
    yield from (*_NAMES, *_APPLICATIONS)
    for cache, pattern in _CACHES:
        yield from sorted(map(str, Path(expanded(cache)).glob(pattern)), reverse=True)
