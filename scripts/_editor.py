"""A person in a real Visual Studio Code and an agent on stdio in one debug session: `scripts/editor`.

The agent launches a program and stops; the editor joins by its configuration, shows the agent's line and steps; a
breakpoint set in its gutter is one that the agent's program then stops at. At the end the editor's own MCP client
starts our server by `.vscode/mcp.json`. A picture is written to docs/ with `--pictures`; else all are in a directory
that is printed.
"""

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from playwright.sync_api import Page, ViewportSize, sync_playwright
from playwright.sync_api import TimeoutError as PlaywrightTimeout

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.dashboard.agent import CONTROL_TOKEN, Agent
from tests.dashboard.conftest import CHROMIUM, CHROMIUM_OPTIONS
from trio_debugmcp.editors.extension_package import packed

ROOT = Path(__file__).resolve().parent.parent
READY_SECONDS = 60
NEAR_PIXELS = 4
SIZE = ViewportSize(width=1280, height=800)

PROGRAM = """\
def total(prices):
    amount = 0
    for price in prices:
        amount += price
    return amount


def main():
    cart = [4, 6, 3]
    due = total(cart)
    print("due:", due)


main()
"""


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
        return port


def _write_settings(place: Path) -> None:
    settings = place / "user" / "User" / "settings.json"
    settings.parent.mkdir(parents=True)
    settings.write_text(
        json.dumps(
            {
                "workbench.startupEditor": "none",
                "security.workspace.trust.enabled": False,
                "workbench.colorTheme": "Default Light Modern",
                "chat.mcp.autostart": "newAndOutdated",
                "workbench.secondarySideBar.defaultVisibility": "hidden",
            }
        )
    )


@contextmanager
def code_server(editor: Path, place: Path, folder: Path) -> Iterator[str]:
    """Run Visual Studio Code with our extension; yield its address."""
    extension = place / "trio-debugmcp.vsix"
    extension.write_bytes(packed())
    environment = os.environ | {
        "HOME": str(place),
        "XDG_CONFIG_HOME": str(place / "config"),
        "PATH": f"{editor}/node_modules/node/bin:{os.environ['PATH']}",
    }
    _write_settings(place)
    command = [str(editor / "node_modules/node/bin/node"), str(editor / "node_modules/code-server/out/node/entry.js")]
    places = ["--user-data-dir", str(place / "user"), "--extensions-dir", str(place / "extensions")]
    subprocess.run(
        [*command, *places, "--install-extension", str(extension)], env=environment, check=True, capture_output=True
    )
    port = free_port()
    quiet = ["--disable-telemetry", "--disable-update-check", "--disable-workspace-trust", "--auth", "none"]
    with (place / "code-server.log").open("w") as log:
        process = subprocess.Popen(
            [*command, *places, *quiet, "--bind-addr", f"127.0.0.1:{port}", str(folder)],
            env=environment,
            stdout=log,
            stderr=subprocess.STDOUT,
        )
    try:
        end = time.monotonic() + READY_SECONDS
        while "HTTP server listening" not in (place / "code-server.log").read_text():
            if time.monotonic() > end or process.poll() is not None:
                raise SystemExit(f"code-server did not start: {(place / 'code-server.log').read_text()[-2000:]}")
            time.sleep(0.1)
        yield f"http://127.0.0.1:{port}/?folder={folder}"
    finally:
        process.terminate()
        process.wait(20)


def configure(folder: Path, **how: object) -> None:
    """Write the editor's launch.json: to join by a type of configuration, and its way to the server."""
    join = {"request": "attach", "name": "Join the agent", "token": CONTROL_TOKEN, "wait": True, **how}
    (folder / ".vscode" / "launch.json").write_text(json.dumps({"version": "0.2.0", "configurations": [join]}))


def configured(folder: Path, dap_port: int) -> None:
    """Write the project: the program, and the configurations of the editor."""
    folder.mkdir()
    (folder / "cart.py").write_text(PROGRAM)
    (folder / ".vscode").mkdir()
    configure(folder, type="trio-debugmcp", port=dap_port)
    server = {"type": "stdio", "command": sys.executable, "args": ["-m", "trio_debugmcp"]}
    (folder / ".vscode" / "mcp.json").write_text(json.dumps({"servers": {"debugger": server}}))


def current_line(page: Page) -> int | None:
    """Return the number of the line that the editor marks as the place where the program has stopped."""
    marks = page.locator(".debug-top-stack-frame-line")
    place = marks.first.bounding_box(timeout=1000) if marks.count() else None
    for number in page.locator(".margin .line-numbers").all() if place is not None else []:
        box = number.bounding_box(timeout=1000)
        if box is not None and place is not None and abs(box["y"] - place["y"]) < NEAR_PIXELS:
            return int(number.inner_text())
    return None


def wait_line(page: Page, line: int) -> None:
    end = time.monotonic() + READY_SECONDS
    found = None
    while time.monotonic() < end:
        with suppress(PlaywrightTimeout):  # it was drawn anew meanwhile
            found = current_line(page)
        if found == line:
            return
        page.wait_for_timeout(100)
    raise AssertionError(f"the editor is at line {found}, not {line}")


def report(text: str) -> None:
    print(f"  {text}", flush=True)


def started(page: Page) -> None:
    """Press F5 until the session is there: the editor ignores the key while it still loads its extensions."""
    end = time.monotonic() + READY_SECONDS
    while not page.locator(".debug-toolbar").is_visible():
        if time.monotonic() > end:
            raise AssertionError("the editor did not join")
        page.locator(".view-line").first.click()
        page.keyboard.press("F5")
        with suppress(PlaywrightTimeout):
            page.locator(".debug-toolbar").wait_for(timeout=5000)


def join_and_step(page: Page, agent: Agent, pictures: Path) -> None:
    page.locator(".explorer-folders-view").get_by_text("cart.py").dblclick()
    page.locator(".view-line").first.wait_for()
    started(page)
    wait_line(page, 4)
    report("the editor shows the line where the agent has stopped: cart.py:4")
    page.locator(".debug-variables").get_by_text("prices").first.wait_for(timeout=15_000)
    page.wait_for_timeout(1000)
    page.screenshot(path=pictures / "editor-joined.png")
    page.get_by_role("button", name=re.compile("Step Over")).first.click()
    wait_line(page, 3)
    state = agent.call("debug_state")
    assert "cart.py:3 " in state["at"], state
    report(f"its Step Over is the agent's: {state['at']}, notes {state.get('notes')}")


def break_in_gutter(page: Page, agent: Agent, pictures: Path) -> None:
    number = page.locator(".margin .line-numbers").get_by_text("5", exact=True).bounding_box()
    assert number is not None
    page.mouse.click(number["x"] - 12, number["y"] + 8)
    end = time.monotonic() + 15
    while "cart.py:5" not in str(agent.call("breakpoint_list")):
        if time.monotonic() > end:
            raise AssertionError(f"no breakpoint of the editor: {agent.call('breakpoint_list')}")
        page.wait_for_timeout(100)
    listed = [each["id"] for each in json.loads(agent.resource("debugger://breakpoints"))["breakpoints"]]
    agent.call("breakpoint_remove", id=listed[0])
    stop = agent.call("debug_continue")
    assert "cart.py:5 " in stop["at"], stop
    report(f"the agent stops at the breakpoint from the editor's gutter: {stop['at']}, {stop['breakpoints']}")
    wait_line(page, 5)
    page.wait_for_timeout(1000)
    page.screenshot(path=pictures / "editor-breakpoint.png")


def leave(page: Page, agent: Agent) -> None:
    page.get_by_role("button", name=re.compile("Disconnect")).first.click()
    page.locator(".debug-top-stack-frame-line").first.wait_for(state="detached", timeout=15_000)
    state = agent.call("debug_state")
    assert state["state"] == "Paused", state
    report("the editor has left, and the agent's program is where it was")


def join_by_debug_server(page: Page, agent: Agent) -> None:
    """Join by a configuration of another debugger's type that has `debugServer`."""
    page.wait_for_timeout(1000)  # until the editor has read its configuration
    started(page)
    wait_line(page, 5)
    page.get_by_role("button", name=re.compile("Step Over")).first.click()
    wait_line(page, 11)
    report("by a configuration of the type `node` with `debugServer` it joins and steps, too")
    leave(page, agent)


def start_as_mcp_server(page: Page, pictures: Path) -> None:
    """Let the editor's MCP client start our server, and read in its log that it has found the tools."""
    for chosen in ("Start Server", "Show Output"):
        page.keyboard.press("F1")
        page.locator(".quick-input-box input").fill(">MCP: List Servers")
        page.locator(".quick-input-list").get_by_text("MCP: List Servers").first.click()
        page.locator(".quick-input-list").get_by_text("debugger", exact=True).first.click()
        page.locator(".quick-input-list").get_by_text(chosen).first.click()
        page.wait_for_timeout(2000)
    page.locator(".view-line").get_by_text(re.compile(r"Discovered")).first.wait_for(timeout=READY_SECONDS * 1000)
    page.screenshot(path=pictures / "editor-mcp.png")
    report("its MCP client has started the server of .vscode/mcp.json, and listed the tools")


def join_with_neovim(agent: Agent, port: int) -> None:
    """Let nvim-dap in a headless neovim join, step and read the variables."""
    plugin = os.environ.get("NVIM_DAP")
    if shutil.which("nvim") is None or plugin is None:
        report("SKIPPED neovim: install it, and let NVIM_DAP name a directory with nvim-dap")
        return
    stops = subprocess.run(
        [
            "nvim",
            "--headless",
            "-u",
            "NONE",
            "--cmd",
            f"set rtp+={plugin}",
            "-c",
            f"luafile {ROOT}/scripts/_neovim.lua",
        ],
        env=os.environ | {"DAP_PORT": str(port), "DAP_TOKEN": CONTROL_TOKEN},
        capture_output=True,
        text=True,
        timeout=READY_SECONDS,
        check=True,
    )
    seen = [json.loads(line) for line in stops.stdout.splitlines() if line.startswith("{")]
    assert [each["line"] for each in seen] == [4, 3], stops
    assert seen[0]["variables"]["prices"] == "[4, 6, 3]", seen
    state = agent.call("debug_state")
    assert "cart.py:3 " in state["at"], state
    report(f"neovim has joined, read {seen[0]['variables']}, stepped, and left; the agent: {state['notes']}")
    agent.call("debug_continue")


def main() -> None:
    editor = Path(sys.argv[1])
    own = Path(tempfile.mkdtemp(prefix="trio-debugmcp-editor-"))
    pictures = ROOT / "docs" if "--pictures" in sys.argv[2:] else own
    agent = Agent(own, options=["--dap", "127.0.0.1:0"])
    folder = own / "cart"
    port = int(agent.announced(r"dap: [^\n]*?:(\d+)"))
    configured(folder, port)
    with sync_playwright() as playwright, code_server(editor, own, folder) as address:
        place = {"file": str(folder / "cart.py"), "line": 4}
        stop = agent.call("debug_launch", program=str(folder / "cart.py"), cwd=str(folder), breakpoints=[place])
        report(f"the agent has stopped: {stop['at']}")
        join_with_neovim(agent, port)
        browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=CHROMIUM_OPTIONS)
        page = browser.new_page(viewport=SIZE)
        page.goto(address)
        page.locator(".explorer-folders-view").wait_for(timeout=READY_SECONDS * 1000)
        try:
            join_and_step(page, agent, pictures)
            break_in_gutter(page, agent, pictures)
            leave(page, agent)
            configure(folder, type="node", debugServer=port)
            join_by_debug_server(page, agent)
            start_as_mcp_server(page, pictures)
        except Exception:
            page.screenshot(path=own / "failed.png")
            print(f"failed; picture: {own / 'failed.png'}", file=sys.stderr)
            raise
        finally:
            browser.close()
            agent.disconnect()
    print(f"pictures: {pictures}")


if __name__ == "__main__":
    main()
