"""Pages in a real browser: a dev server with TypeScript, files that are served for it, attaching, and nothing left."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest
import trio

from tests.languages.conftest import TEST_SECONDS, need
from tests.ports import free_port
from tests.real.conftest import Connect
from trio_debugmcp.dap.profiles import profile_named
from trio_debugmcp.dap.profiles.javascript.browsers import browser_arguments, browser_at
from trio_debugmcp.testing import DebugClient, ToolFailed

PROJECT = Path(__file__).parent.parent / "programs" / "page"

MODULES = Path(__file__).parent.parent / "javascript" / "node_modules"


@pytest.fixture(autouse=True)
def browser() -> str:
    """The path of the browser, if all is there that pages need."""
    profile = profile_named("browser")
    assert profile is not None
    need("js-debug", profile.locate(), f"{profile.absence()}; {profile.install_hint}")
    return need("a browser", browser_at(None), "apt-get install chromium")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project of vite with TypeScript, in a directory of its own."""
    need("vite", str(MODULES / "vite") if (MODULES / "vite").is_dir() else None, "scripts/npm-install")
    shutil.copytree(PROJECT, tmp_path / "page")
    (tmp_path / "page" / "node_modules").symlink_to(MODULES)
    return tmp_path / "page"


def vite(port: int) -> str:
    return f"node node_modules/vite/bin/vite.js --host 127.0.0.1 --port {port} --strictPort"


def at(file: Path, mark: str) -> dict[str, object]:
    (number,) = [number for number, line in enumerate(file.read_text().splitlines(), 1) if line.endswith(f"// {mark}")]
    return {"file": str(file), "line": number}


def is_at(stop: dict[str, Any], file: Path, mark: str) -> bool:
    return str(stop["at"]).startswith(f"{file}:{at(file, mark)['line']} ")


async def click(client: DebugClient, button: str) -> dict[str, Any]:
    return await client.call("evaluate", expression=f"document.querySelector('#{button}').click()")


async def written(client: DebugClient, text: str, stream: str) -> None:
    """Wait until the program has written a text."""
    while text not in "".join(entry.get(stream, "") for entry in (await client.call("process_read_output"))["entries"]):
        await trio.sleep(0.05)


def processes_of(directory: Path) -> list[str]:
    """The processes whose environment or command line names a directory, as all of a browser's do its own."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            named = (entry / "cmdline").read_bytes() + (entry / "environ").read_bytes()
        except OSError:
            continue
        if os.fsencode(directory) in named and int(entry.name) != os.getpid():
            found.append(entry.name)
    return found


def marked(tmp_path: Path) -> dict[str, object]:
    """The options with which a browser is found again."""
    return {"runtimeArgs": [f"--started-by={tmp_path}"]}


def directory_of(tmp_path: Path) -> Path:
    """The directory of the browser that was started with this mark, of which the first process says it."""
    for process in processes_of(tmp_path):
        try:
            words = Path(f"/proc/{process}/cmdline").read_text().split("\0")
        except OSError:  # one of its helpers, which has ended since
            continue
        own = next((word for word in words if word.startswith("--user-data-dir=")), None)
        if own is not None:
            return next(
                each for each in Path(own.partition("=")[2]).parents if each.name.startswith("trio-debugmcp-browser-")
            )
    raise AssertionError("there is no browser")


async def gone(directory: Path) -> None:
    """Wait until no process has a browser's directory."""
    while processes_of(directory):  # noqa: ASYNC110 (the system has no event for it)
        await trio.sleep(0.05)


async def test_a_page_of_vite_is_debugged_in_its_typescript_and_leaves_no_browser_and_no_server(
    debugging: Connect, project: Path, tmp_path: Path
) -> None:
    main, cart, port = project / "src" / "main.ts", project / "src" / "cart.ts", free_port()
    async with debugging() as client:
        wanted = [{**at(cart, "loop"), "condition": "item.price === 3"}]
        start: dict[str, object] = {"url": f"http://127.0.0.1:{port}/", "dev_server": vite(port), "breakpoints": wanted}
        start["adapter_options"] = marked(tmp_path)
        loaded = await client.call("debug_launch", **start)
        assert (loaded["state"], loaded.get("timedOut")) == ("Running", None)
        await written(client, "ready\n", "stdout")
        await written(client, "Local:", "console")  # of vite
        assert (await client.call("evaluate", expression="document.title"))["value"] == "'The shop'"

        clicked = await click(client, "buy")
        assert clicked["notes"] == [
            "the program has stopped in what was evaluated, before it had a value: debug_wait says where and why"
        ]
        stop = await client.call("debug_wait", show=["items.length"])
        assert (stop["reason"], stop["breakpoints"], is_at(stop, cart, "loop")) == ("Breakpoint", ["bp-1"], True)
        assert stop["locals"]["item"] == "{name: 'plum', price: 3}"
        assert stop["locals"]["sum"] == "2"
        found = await client.call("variables_get", path="items", depth=2)
        assert found["variables"]["[1].name"] == "'plum'"
        out = await client.call("debug_step", mode="out")
        assert (out["reason"], out["locals"]["total"]) == ("Step", "5")

        crash = await client.call("debug_continue")
        assert crash["exception"] == "TypeError: Cannot read properties of undefined (reading 'price')"
        assert (crash["mode"], is_at(crash, cart, "crash"), crash["stdout"]) == ("unhandled", True, "bought 5\n")
        await client.call("debug_continue", timeout=0)

        await click(client, "load")
        await written(client, f"GET http://127.0.0.1:{port}/prices.json?none: 404 Not Found\n", "stderr")
        await written(client, "prices 404\n", "stderr")

        await click(client, "lose")
        lost = await client.call("debug_wait")
        assert (lost["exception"], is_at(lost, main, "lost")) == ("RangeError: lost", True)
        again = await client.call("debug_restart")
        assert again["state"] == "Running"  # its server was started again, and waited for
        directory = directory_of(tmp_path)
        assert await client.call("debug_disconnect") == {"ended": True}
        await gone(directory)
        while directory.exists():  # removed behind the session
            await trio.sleep(0.05)
        while True:  # the server ends behind the session
            with socket.socket() as trial:
                if trial.connect_ex(("127.0.0.1", port)):
                    break
            await trio.sleep(0.05)


async def test_an_html_file_is_served_with_its_modules_and_its_missing_files_are_named(
    debugging: Connect, tmp_path: Path
) -> None:
    page = '<title>Files</title><link rel="stylesheet" href="absent.css"><script type="module" src="main.mjs"></script>'
    (tmp_path / "index.html").write_text(page)
    (tmp_path / "main.mjs").write_text("import { half } from './half.mjs';\nconsole.log(half(8));\n")
    (tmp_path / "half.mjs").write_text("export function half(n) {\n  return n / 2;\n}\n")
    async with debugging("--root", str(tmp_path)) as client:
        stop = await client.call("debug_launch", program="index.html", breakpoints=[{"file": "half.mjs", "line": 2}])
        assert (stop["breakpoints"], stop["locals"]) == (["bp-1"], {"n": "8"})
        assert stop["at"].endswith("half.mjs:2 in half")
        await client.call("breakpoint_remove", id="bp-1")
        again = await client.call("debug_launch", program="index.html", replace=True)
        assert any("did not load: http://127.0.0.1:" in note and "absent.css: 404" in note for note in again["notes"])
        assert (await client.call("evaluate", expression="await Promise.resolve(6)"))["value"] == "6"
        with pytest.raises(ToolFailed, match="`nope` failed: ReferenceError: nope is not defined"):
            await client.call("evaluate", expression="nope")
        with pytest.raises(ToolFailed, match=r"did not finish within 0\.5 s"):
            await client.call("evaluate", expression="await new Promise(() => {})", timeout=0.5)
        with pytest.raises(ToolFailed) as refused:
            await client.call("debug_launch", url="http://localhost:1/", dev_server="npm run dev", replace=True)
        assert refused.value.code == "PERMISSION_DENIED"
        by_file = await client.call("debug_launch", url=(tmp_path / "index.html").as_uri(), replace=True)
        assert any("/index.html has loaded" in note for note in by_file["notes"])


async def test_what_is_not_a_page_is_refused_before_anything_ends(debugging: Connect, tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text("<title>One</title>")
    (tmp_path / "data.json").write_text("{}")
    async with debugging() as client:
        await client.call("debug_launch", program=str(tmp_path / "index.html"))
        url = (await client.call("evaluate", expression="location.origin"))["value"].strip("'")
        nobody = free_port()
        refusals = [
            ({"url": f"http://127.0.0.1:{nobody}/"}, "LAUNCH_FAILED", r"nothing listens there.*dev_server="),
            ({"url": f"{url}/data.json"}, "INVALID_PARAMETER", "is not a page: it is application/json"),
            ({"url": "ftp://host/page"}, "INVALID_PARAMETER", "is not the URL of a page"),
            ({"url": url, "program": "index.html"}, "INVALID_PARAMETER", "Pass one of"),
            ({"program": str(tmp_path / "no.html")}, "INVALID_PATH", "does not exist"),
            ({"url": url, "adapter_options": {"browser": "nosuch"}}, "ADAPTER_NOT_FOUND", "apt-get install chromium"),
        ]
        for arguments, code, text in refusals:
            with pytest.raises(ToolFailed, match=text) as failed:
                await client.call("debug_launch", **arguments, replace=True)
            assert failed.value.code == code
            assert (await client.call("evaluate", expression="document.title"))["value"] == "'One'"
        port = int(url.rpartition(":")[2])
        with pytest.raises(ToolFailed, match=f"Something listens at 127.0.0.1:{port} already"):
            await client.call("debug_launch", url=url, dev_server="node -e 0", new_session=True)
        with pytest.raises(ToolFailed, match=r"has ended, and nothing listens at 127\.0\.0\.1"):
            await client.call(
                "debug_launch", url=f"http://127.0.0.1:{nobody}/", dev_server="node -e 0", new_session=True
            )


@contextmanager
def running(browser: str, directory: Path, url: str) -> Iterator[int]:
    """A browser that listens for debuggers, on a page; its port."""
    arguments = [*browser_arguments(headed=False), "--remote-debugging-port=0"]
    command = [browser, *arguments, f"--user-data-dir={directory}", url]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True) as process:
        try:
            assert process.stderr is not None
            announced = next(line for line in process.stderr if "DevTools listening on" in line)
            yield int(announced.split("/")[2].rpartition(":")[2])
        finally:
            os.killpg(process.pid, signal.SIGKILL)


def pages(port: int) -> list[str]:
    """The URLs of all pages of a browser, also of those that it does not show."""
    with urlopen(f"http://127.0.0.1:{port}/json/list", timeout=TEST_SECONDS) as listed:
        return [each["url"] for each in json.load(listed)]


@pytest.mark.skipif(sys.platform != "linux", reason="announces its port in another way")
async def test_a_page_of_a_running_browser_is_attached_to_by_port_and_url_and_lives_on(
    debugging: Connect, browser: str, tmp_path: Path
) -> None:
    (tmp_path / "page.html").write_text("<title>Here</title><script>let n = 0;\nfunction go() { n += 1; }</script>")
    url = (tmp_path / "page.html").as_uri()
    with running(browser, tmp_path / "profile", url) as port:
        async with debugging() as client:
            with pytest.raises(ToolFailed, match=r"has no page 'http://elsewhere/\*'\. Its pages: file://"):
                await client.call("debug_attach", port=port, url="http://elsewhere/")
            attached = await client.call("debug_attach", port=port, url=url)
            assert attached["state"] == "Running"
            assert (await client.call("evaluate", expression="document.title"))["value"] == "'Here'"
            await client.call("evaluate", expression="setTimeout(() => { debugger; go(); })")
            stop = await client.call("debug_wait")
            assert stop["state"] == "Paused"
            assert await client.call("debug_disconnect") == {"detached": True}
            assert (await client.call("debug_attach", port=port, url=url))["state"] == "Running"
            assert (await client.call("evaluate", expression="go(), n"))["value"] == "2"
            assert await client.call("debug_disconnect") == {"detached": True}
        assert pages(port) == [url], "those of the browser itself would take more time than the rest of its start"


async def test_a_browser_ends_with_a_server_that_is_killed(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text("<title>One</title>")
    own = [sys.executable, "-m", "trio_debugmcp", "call", "--json", "--project", str(tmp_path)]
    options = f"adapter_options={json.dumps(marked(tmp_path))}"
    with trio.fail_after(TEST_SECONDS):
        launch = [*own, "debug_launch", f"program={tmp_path / 'index.html'}", options]
        ran = await trio.run_process(launch, capture_stdout=True)
        assert json.loads(ran.stdout)["state"] == "Running"
        directory = directory_of(tmp_path)
        status = await trio.run_process([*own, "--status"], capture_stdout=True)
        os.kill(int(json.loads(status.stdout)["pid"]), signal.SIGKILL)
        await gone(directory)
