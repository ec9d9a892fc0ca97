"""Which pages there are: the dashboard in one file of each kind, or its files one by one."""

import gzip
import logging
import os
import re
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import trio
from trio.testing import MockClock

from tests.transports.conftest import StartServer
from trio_debugmcp.transports.pages import DASHBOARD, LOOK_SECONDS, Pages
from trio_debugmcp.transports.static import IMMUTABLE, REVALIDATED, StaticFile

INDEX = """\
<!doctype html>
    <link rel="icon" href="icon.svg" type="image/svg+xml">
    <link rel="stylesheet" href="css/one.css">
    <link rel="stylesheet" href="css/two.css">
    <script type="module" src="app.js"></script>
<img src="icon.svg">
"""

LOADED = re.compile(r'<(?:link|script) [^>]*(?:href|src)="([^"]+)"')


@pytest.fixture
def dashboard(tmp_path: Path) -> Path:
    """A page with an icon, two style sheets and two modules."""
    (tmp_path / "css").mkdir()
    for name, text in (
        ("index.html", INDEX),
        ("css/one.css", "p { color: red; }\n"),
        ("css/two.css", "p { margin: 0; }\n"),
        ("app.js", "import {one} from './one.js';\n\none();\n"),
        ("one.js", "export function one() {}\n"),
        ("icon.svg", "<svg/>"),
        ("notes.py", "secret"),
    ):
        (tmp_path / name).write_text(text)
    return tmp_path


def text(pages: Pages, path: str) -> str:
    page = pages.find(path)
    assert page is not None, path
    return page.body.decode()


def loaded(pages: Pages) -> list[str]:
    """What the page loads, by path."""
    return [f"/{name}" for name in LOADED.findall(text(pages, "/"))]


def edit(file: Path, content: str) -> None:
    """Write a file, which is newer then however coarse the clock of the file system is."""
    file.write_text(content)
    status = file.stat()
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns + 1_000_000_000))


async def test_a_page_loads_one_style_sheet_and_one_script_which_are_kept_for_good(dashboard: Path) -> None:
    pages = Pages(dashboard)
    icon, style, script = loaded(pages)
    assert text(pages, "/").count(f'"{icon[1:]}"') == 2
    assert text(pages, icon) == "<svg/>"
    assert re.fullmatch(r"/page-[0-9a-f]{16}\.css", style)
    assert re.fullmatch(r"/page-[0-9a-f]{16}\.js", script)
    assert text(pages, style) == "p { color: red; }\np { margin: 0; }\n"
    assert "function one() {}" in text(pages, script)
    (source_map,) = re.findall(r"\n//# sourceMappingURL=(page-\w+\.map)\n$", text(pages, script))
    assert '"sources": ["one.js", "app.js"]' in text(pages, f"/{source_map}")
    for path, content_type, caching in (
        ("/", "text/html; charset=utf-8", REVALIDATED),
        (style, "text/css; charset=utf-8", IMMUTABLE),
        (script, "text/javascript; charset=utf-8", IMMUTABLE),
        (f"/{source_map}", "application/json", IMMUTABLE),
        (icon, "image/svg+xml", IMMUTABLE),
        ("/one.js", "text/javascript; charset=utf-8", REVALIDATED),
    ):
        page = pages.find(path)
        assert page is not None
        assert (page.content_type, page.caching) == (content_type, caching)
    assert pages.find("/") is pages.find("/index.html")


async def test_only_files_of_known_kinds_are_pages(dashboard: Path) -> None:
    pages = Pages(dashboard)
    for path in ("/notes.py", "/css", "/css/", "/../app.js", "//app.js", "app.js", ""):
        assert pages.find(path) is None
    assert text(pages, "/one.js") == "export function one() {}\n"


async def test_what_a_page_loads_has_another_name_once_it_is_another(dashboard: Path) -> None:
    icon, style, script = loaded(Pages(dashboard))
    edit(dashboard / "one.js", "export function one() { return 1; }\n")
    other = Pages(dashboard)
    assert loaded(other)[:2] == [icon, style]
    assert loaded(other)[2] != script
    assert other.find(script) is None


async def test_the_files_are_served_one_by_one_on_request(dashboard: Path) -> None:
    pages = Pages(dashboard, sources=True)
    assert text(pages, "/") == INDEX
    assert loaded(pages) == ["/icon.svg", "/css/one.css", "/css/two.css", "/app.js"]
    assert text(pages, "/app.js") == (dashboard / "app.js").read_text()


async def test_an_edit_is_seen_at_the_next_reload_and_the_files_come_one_by_one_then(
    dashboard: Path, autojump_clock: MockClock
) -> None:
    pages = Pages(dashboard)
    assert len(loaded(pages)) == 3
    edit(dashboard / "one.js", "export function one() { return 1; }\n")
    assert text(pages, "/one.js") == "export function one() {}\n", "as the page that is open has it"
    await trio.sleep(LOOK_SECONDS)
    assert text(pages, "/") == INDEX
    assert text(pages, "/one.js") == "export function one() { return 1; }\n"
    read = pages.find("/one.js")
    await trio.sleep(LOOK_SECONDS)
    assert text(pages, "/") == INDEX
    assert pages.find("/one.js") is read, "nothing was edited since"
    (dashboard / "more.js").write_text("1;\n")
    (dashboard / "css" / "two.css").unlink()
    await trio.sleep(LOOK_SECONDS)
    assert text(pages, "/index.html") == INDEX
    assert text(pages, "/more.js") == "1;\n"
    assert pages.find("/css/two.css") is None


async def test_strangers_do_not_make_it_look_at_the_files_all_the_time(
    dashboard: Path, autojump_clock: MockClock
) -> None:
    pages = Pages(dashboard)
    before = text(pages, "/")
    edit(dashboard / "index.html", f"{INDEX}<p>more")
    await trio.sleep(LOOK_SECONDS / 2)
    assert text(pages, "/") == before
    await trio.sleep(LOOK_SECONDS / 2)
    assert text(pages, "/") == f"{INDEX}<p>more"


async def test_while_a_file_is_being_replaced_the_page_stays_as_it_is(
    dashboard: Path, autojump_clock: MockClock
) -> None:
    pages = Pages(dashboard)
    before = text(pages, "/")
    for name in ("index.html", "css"):
        away = (dashboard / name).rename(dashboard.with_name(f"{dashboard.name}-away"))
        await trio.sleep(LOOK_SECONDS)
        assert text(pages, "/") == (before if name == "index.html" else INDEX)
        away.rename(dashboard / name)
    edit(dashboard / "one.js", "export function one() { return 1; }\n")
    await trio.sleep(LOOK_SECONDS)
    assert text(pages, "/") == INDEX


async def test_a_server_keeps_its_own_page_when_another_release_is_installed(
    dashboard: Path, autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("trio_debugmcp.transports.pages.PACKAGE", dashboard)
    (dashboard / "__init__.py").write_text("")
    pages = Pages(dashboard)
    before = text(pages, "/")
    edit(dashboard / "one.js", "export function one() { return 1; }\n")
    edit(dashboard / "__init__.py", "")
    await trio.sleep(LOOK_SECONDS)
    assert text(pages, "/") == before


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (
            "export default 1;\nexport function one() {}\n",
            "one.js: this cannot be put into one script: export default 1;",
        ),
        ("import {two} from './two.js';\nexport function one() {}\n", "No such file or directory"),
    ],
)
async def test_what_cannot_be_put_into_one_script_is_served_as_it_is_and_logged(
    content: str, reason: str, dashboard: Path, caplog: pytest.LogCaptureFixture
) -> None:
    edit(dashboard / "one.js", content)
    assert text(Pages(dashboard), "/") == INDEX
    assert "the page is served as the files that it is made of: " in caplog.text
    assert reason in caplog.text


async def test_the_dashboard_is_put_together(caplog: pytest.LogCaptureFixture) -> None:
    pages = Pages()
    with caplog.at_level(logging.WARNING):
        icon, style, script = loaded(pages)
    assert caplog.text == ""
    assert repr(pages) == f"<Pages of {DASHBOARD}: {len([*DASHBOARD.rglob('*.*')]) + 5}>"
    for path in (icon, style, script):
        assert isinstance(pages.find(path), StaticFile)
    assert Pages().find(script) is pages.find(script), "it is made once"


# --- Over HTTP --------------------------------------------------------------------------------------------------------


class Loader:
    """Loads what a browser loads, with one connection for all of it. `sizes` are those on the wire."""

    def __init__(self, port: int) -> None:
        self._connection = HTTPConnection("127.0.0.1", port, timeout=60)
        self._connection.auto_open = 0  # another connection than that of `connect` would fail
        self._tags: dict[str, str] = {}
        self.sizes: list[int] = []
        self.lasting: set[str] = set()

    def connect(self) -> None:
        self._connection.close()
        self._connection.connect()

    def load(self, path: str) -> tuple[int, str]:
        """Return the status and the body."""
        known = {"If-None-Match": self._tags[path]} if path in self._tags else {}
        self._connection.request("GET", path, headers={"Accept-Encoding": "gzip", **known})
        response = self._connection.getresponse()
        body = response.read()
        self.sizes.append(len(body))
        self._tags[path] = response.headers["ETag"]
        if response.headers["Cache-Control"] == IMMUTABLE:
            self.lasting.add(path)
        if response.headers["Content-Encoding"] == "gzip":
            body = gzip.decompress(body)
        return response.status, body.decode()

    def load_page(self) -> list[str]:
        """Load the page and what it names, and return the paths."""
        status, html = self.load("/")
        assert status == 200
        paths = [f"/{name}" for name in LOADED.findall(html)]
        assert [self.load(path)[0] for path in paths] == [200] * len(paths)
        return ["/", *paths]

    def close(self) -> None:
        self._connection.close()


@pytest.mark.real
async def test_the_page_is_loaded_on_one_connection_and_anew_by_a_short_answer(serving: StartServer) -> None:
    async with serving("--ws", "0") as server:
        loader = Loader(urlsplit(await server.websocket_url()).port or 0)
        loader.connect()
        paths = await trio.to_thread.run_sync(loader.load_page)
        assert len(paths) == 4
        assert sum(loader.sizes) < 200_000  # 40,000 of them are the highlighter and the plotter; 0.08 s at 20 Mbit/s
        assert loader.lasting == {*paths[1:]}
        loader.connect()
        assert await trio.to_thread.run_sync(loader.load, "/") == (304, "")
        loader.close()


@pytest.mark.real
async def test_page_sources_are_served_one_by_one(serving: StartServer) -> None:
    async with serving("--ws", "0", "--page-sources") as server:
        loader = Loader(urlsplit(await server.websocket_url()).port or 0)
        loader.connect()
        for path, name in (("/", "index.html"), ("/app.js", "app.js")):
            status, body = await trio.to_thread.run_sync(loader.load, path)
            assert (status, body) == (200, (DASHBOARD / name).read_text(encoding="utf-8"))
        loader.close()
