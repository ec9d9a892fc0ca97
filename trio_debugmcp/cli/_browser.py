"""Brings a person to a web page: the URL on standard error, and the browser if there is a graphical one."""

import os
import sys

import trio

from trio_debugmcp.cli._output import visible


async def show_page(url: str, why: str = "The server requires an authorisation. Open this page in a browser:") -> None:
    """Print `url`, and open it where that does not take the terminal away from the person."""
    sys.stderr.write(f"{why}\n  {visible(url)}\n")
    sys.stderr.flush()
    graphical = sys.platform == "darwin" or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    if graphical:
        import webbrowser  # few commands need it

        await trio.to_thread.run_sync(webbrowser.open, url, abandon_on_cancel=True)
