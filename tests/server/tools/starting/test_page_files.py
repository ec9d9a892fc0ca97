"""What the server of a page's directory gives, and to whom."""

import threading
from collections.abc import Callable, Iterator
from http.client import HTTPConnection

import pytest

from trio_debugmcp.server.tools.starting.page_files import page_server

pytestmark = pytest.mark.real

Get = Callable[..., tuple[int, bytes]]


@pytest.fixture(scope="module")
def get(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Get]:
    """Asks a server of a directory for a path, as a host name."""
    tmp_path = tmp_path_factory.mktemp("page")
    site = tmp_path / "site"
    (site / "lib").mkdir(parents=True)
    (site / ".well-known").mkdir()
    (site / ".git").mkdir()
    (tmp_path / "secret.txt").write_text("outside")
    (site / "link").symlink_to(tmp_path)
    (site / "same.js").symlink_to(site / "lib" / "main.mjs")
    for name in ("index.html", "lib/main.mjs", ".env", ".git/config", ".well-known/a.json"):
        (site / name).write_text(name)
    with page_server("127.0.0.1", 0, str(site)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        port = server.server_address[1]

        def ask(path: str, host: str = f"127.0.0.1:{port}") -> tuple[int, bytes]:
            connection = HTTPConnection("127.0.0.1", port, timeout=60)
            connection.request("GET", path, headers={"Host": host.replace("PORT", str(port))})
            answer = connection.getresponse()
            body = answer.read()
            connection.close()
            return answer.status, body

        yield ask
        server.shutdown()


def test_a_page_gets_its_files_and_what_links_to_them(get: Get) -> None:
    assert get("/index.html?a=1") == (200, b"index.html")
    assert get("/lib/main.mjs", "localhost:PORT") == (200, b"lib/main.mjs")
    assert get("/same.js") == (200, b"lib/main.mjs")
    assert get("/.well-known/a.json") == (200, b".well-known/a.json")
    assert get("/") == (200, b"index.html")


@pytest.mark.parametrize(
    "path",
    ["/.env", "/.git/config", "/link/secret.txt", "/link/", "/../secret.txt", "/lib/%2e%2e/.env", "/lib/"],
)
def test_hidden_files_what_lies_outside_and_lists_are_not_given(get: Get, path: str) -> None:
    status, body = get(path)
    assert status == 404
    assert b"outside" not in body


@pytest.mark.parametrize("host", ["evil.example", "evil.example:PORT", "127.0.0.1", ""])
def test_another_name_of_this_machine_gets_nothing(get: Get, host: str) -> None:
    assert get("/index.html", host)[0] == 403
