"""Who is admitted at the port, and how everything else is refused. On memory streams; the clock is exact."""

from pathlib import Path

import pytest
import trio
from trio.testing import MockClock

from tests.transports.scene import CONTROL, HOST, OBSERVE, PAGES, http, open_scene, read_answer, upgrade
from trio_debugmcp.server.auth import Tokens
from trio_debugmcp.transports.admission import STRANGER_SECONDS, AdmissionStatistics
from trio_debugmcp.transports.gate import Gate, is_loopback
from trio_debugmcp.transports.head import HEAD_SECONDS, MAX_HEAD_BYTES, Head, Refused
from trio_debugmcp.transports.static import read_pages


@pytest.mark.parametrize(("path", "page"), [("/", "/"), ("/app.js", "/app.js"), ("/app.js?x=1", "/app.js")])
async def test_a_page_is_served_with_its_type_and_a_strict_policy(
    path: str, page: str, autojump_clock: MockClock
) -> None:
    async with open_scene() as scene:
        status, headers, body = await scene.ask(f"GET {path}")
    assert (status, body) == (200, PAGES[page].body)
    assert headers["content-type"] == PAGES[page].content_type
    assert headers["content-length"] == str(len(body))
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert "default-src 'none'" in headers["content-security-policy"]
    assert "unsafe" not in headers["content-security-policy"]


async def test_head_has_no_body_and_a_page_with_a_known_etag_is_not_sent_again(autojump_clock: MockClock) -> None:
    async with open_scene() as scene:
        status, headers, body = await scene.ask("HEAD /")
        assert (status, headers["content-length"], body) == (200, str(len(PAGES["/"].body)), b"")
        status, headers, body = await scene.ask(http("GET /", If_None_Match=headers["etag"]))
        assert (status, body) == (304, b"")


@pytest.mark.parametrize(
    "path",
    ["/../pyproject.toml", "/..%2fpyproject.toml", "/%2e%2e/pyproject.toml", "/./app.js", "//app.js", "/app.js/",
     "/APP.JS", "/app%2ejs", "/etc/passwd", "/__init__.py", "/nothing", "*", "http://127.0.0.1:8000/"],
)  # fmt: skip
async def test_no_other_file_can_be_requested(path: str, autojump_clock: MockClock) -> None:
    async with open_scene() as scene:
        assert (await scene.ask(f"GET {path}"))[0] == 404


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "TRACE", "PATCH"])
async def test_pages_are_read_only(method: str, autojump_clock: MockClock) -> None:
    async with open_scene() as scene:
        status, headers, _ = await scene.ask(f"{method} /")
        assert (status, headers["allow"]) == (405, "GET, HEAD")


def test_only_files_of_known_kinds_are_pages(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text("<p>")
    (tmp_path / "vendor").mkdir()
    (tmp_path / "vendor" / "lib.js").write_text("1")
    (tmp_path / "notes.py").write_text("secret")
    pages = read_pages(tmp_path)
    assert set(pages) == {"/", "/index.html", "/vendor/lib.js"}
    assert "/" in read_pages()


# --- Who is admitted ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "headers",
    [
        {"Authorization": ""},
        {"Authorization": "Bearer wrong"},
        {"Authorization": f"Bearer {CONTROL}x"},
        {"Authorization": f"Basic {CONTROL}"},
        {"Authorization": "Bearer "},
        {"Authorization": "", "Sec_WebSocket_Protocol": "mcp, bearer.wrong"},
        {"Authorization": "", "Sec_WebSocket_Protocol": f"mcp, {CONTROL}"},
        {"Sec_WebSocket_Protocol": f"mcp, bearer.{OBSERVE}"},
    ],
)
async def test_a_request_without_a_valid_token_is_refused(headers: dict[str, str], autojump_clock: MockClock) -> None:
    async with open_scene() as scene:
        status, answer, _ = await scene.ask(upgrade(**headers))
        assert (status, answer["www-authenticate"]) == (401, "Bearer")
        assert len(scene.app.clients) == 0


@pytest.mark.parametrize(
    "headers",
    [
        {"Authorization": f"Bearer {OBSERVE}"},
        {"Authorization": f"bearer {CONTROL}"},
        {"Authorization": f"Bearer  {CONTROL}"},
        {"Authorization": "", "Sec_WebSocket_Protocol": f"mcp, bearer.{OBSERVE}"},
        {"Origin": f"http://{HOST}"},
        {"Host": "localhost:8000", "Origin": "http://localhost:8000"},
        {"Host": "[::1]:8000"},
    ],
)
async def test_a_token_in_the_header_or_beside_the_subprotocol_is_admitted(
    headers: dict[str, str], autojump_clock: MockClock
) -> None:
    async with open_scene() as scene:
        stream = scene.dial()
        await stream.send_all(upgrade(**headers))
        await stream.send_all(b"\x88\x80\0\0\0\0")  # close
        status, answer, _ = await read_answer(stream)
        assert (status, answer["sec-websocket-protocol"]) == (101, "mcp")


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example:8000"},
        {"Host": "evil.example"},
        {"Host": "127.0.0.1:9000"},
        {"Host": "127.0.0.1"},
        {"Host": "127.0.0.1.evil.example:8000"},
        {"Host": "192.168.1.1:8000"},
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "https://127.0.0.1:8000"},
        {"Origin": "http://localhost:8000"},
        {"Origin": "http://127.0.0.1:8001"},
        {"Origin": "http://127.0.0.1:8000.evil.example"},
    ],
)
async def test_a_foreign_host_or_origin_is_refused_with_and_without_token(
    headers: dict[str, str], autojump_clock: MockClock
) -> None:
    async with open_scene() as scene:
        assert (await scene.ask(upgrade(**headers)))[0] == 403
        assert (await scene.ask(http("GET /", **headers)))[0] == 403


def test_at_a_reachable_address_a_numeric_host_is_ours_and_a_name_is_not() -> None:
    gate: Gate[str] = Gate("0.0.0.0", 80, {"t": "control"}.get)
    for host in ("192.168.1.1", "192.168.1.1:80", "[fe80::1]", "localhost"):
        gate.check_source(Head("GET", "/", (("host", host),)))
    for host in ("evil.example", "192.168.1.1:81", "", "[::1", "1.2.3.4.example"):
        with pytest.raises(Refused):
            gate.check_source(Head("GET", "/", (("host", host),)))
    assert [is_loopback(host) for host in ("127.0.0.2", "::1", "localhost", "0.0.0.0", "example")] == [
        True, True, True, False, False,
    ]  # fmt: skip


@pytest.mark.parametrize("hosts", [[], [HOST, HOST], [HOST, "evil.example"]])
def test_a_request_must_have_one_host(hosts: list[str]) -> None:
    gate: Gate[str] = Gate("127.0.0.1", 8000, {"t": "control"}.get)
    gate.check_source(Head("GET", "/", (("host", HOST),)))
    with pytest.raises(Refused):
        gate.check_source(Head("GET", "/", tuple(("host", host) for host in hosts)))


def test_tokens_are_made_if_none_are_given_and_invalid_ones_are_not_quoted() -> None:
    tokens = Tokens()
    assert tokens.role_of(tokens.control) == "control"
    assert tokens.role_of(tokens.observe) == "observe"
    assert tokens.role_of("") is None
    assert tokens.role_of("\udcff ü") is None
    assert Tokens().control != tokens.control
    assert tokens.control not in repr(tokens)
    for control, observe in (("a b", "c"), ("", "c"), ("a,b", "c"), ("same", "same"), ("ü", "c")):
        with pytest.raises(ValueError, match="token") as caught:
            Tokens(control, observe)
        assert "a b" not in str(caught.value)


# --- Malformed requests ---------------------------------------------------------------------------------------


async def test_a_slow_head_is_refused_and_others_are_served_meanwhile(autojump_clock: MockClock) -> None:
    async with open_scene() as scene:
        slow, silent = scene.dial(), scene.dial()
        started = trio.current_time()

        async def trickle() -> None:
            for byte in http("GET /"):
                await slow.send_all(bytes([byte]))
                await trio.sleep(1)

        async with trio.open_nursery() as nursery:
            nursery.start_soon(trickle)
            assert (await scene.ask("GET /"))[0] == 200
            assert (await read_answer(silent))[0] == 408
            assert trio.current_time() - started <= HEAD_SECONDS + 1
            assert (await read_answer(slow))[0] == 408
            nursery.cancel_scope.cancel()


async def test_an_oversized_head_is_refused(autojump_clock: MockClock) -> None:
    async with open_scene() as scene:
        assert (await scene.ask(http("GET /", X_Long="x" * 2 * MAX_HEAD_BYTES)))[0] == 431
        assert (await scene.ask(b"GET /" + b"x" * 10 * MAX_HEAD_BYTES))[0] in (400, 431)


@pytest.mark.parametrize(
    "request_bytes",
    [b"hello\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", b"GET / HTTP/1.1\r\n\r\n",
     b"GET / HTTP/1.1\r\nHost: 127.0.0.1:8000\r\nHost: evil\r\n\r\n", b"GET / HTTP/1.1\r\nHost : x\r\n\r\n",
     b"\x00" * 100 + b"\r\n\r\n"],
)  # fmt: skip
async def test_bytes_that_are_not_a_request_are_refused(request_bytes: bytes, autojump_clock: MockClock) -> None:
    async with open_scene() as scene:
        assert (await scene.ask(request_bytes))[0] in (400, 403)


async def test_http_1_0_is_refused(autojump_clock: MockClock) -> None:
    async with open_scene() as scene:
        assert (await scene.ask(f"GET / HTTP/1.0\r\nHost: {HOST}\r\n\r\n".encode()))[0] == 505


async def test_of_pipelined_requests_the_first_is_served_and_the_connection_closed(autojump_clock: MockClock) -> None:
    async with open_scene() as scene:
        status, headers, body = await scene.ask(http("GET /") + http("GET /app.js"))
        assert (status, headers["connection"], body) == (200, "close", PAGES["/"].body)


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({"Upgrade": ""}, 426),
        ({"Connection": ""}, 426),
        ({"Upgrade": "h2c"}, 426),
        ({"Sec_WebSocket_Version": "8"}, 426),
        ({"Sec_WebSocket_Version": ""}, 426),
        ({"Sec_WebSocket_Key": ""}, 400),
        ({"Sec_WebSocket_Protocol": ""}, 400),
        ({"Sec_WebSocket_Protocol": "chat"}, 400),
    ],
)
async def test_an_incomplete_handshake_is_refused_with_the_status_for_what_is_missing(
    headers: dict[str, str], expected: int, autojump_clock: MockClock
) -> None:
    async with open_scene() as scene:
        assert (await scene.ask(upgrade(**headers)))[0] == expected


@pytest.mark.parametrize(("name", "other"), [(b"Upgrade", b"h2c"), (b"Connection", b"keep-alive")])
async def test_a_handshake_with_two_lines_of_a_header_is_refused(
    name: bytes, other: bytes, autojump_clock: MockClock
) -> None:
    async with open_scene() as scene:
        doubled = b"\r\n" + name + b": " + other + b"\r\n" + name + b": "
        assert (await scene.ask(upgrade().replace(b"\r\n" + name + b": ", doubled)))[0] == 426


async def test_the_websocket_is_at_one_path_only(autojump_clock: MockClock) -> None:
    async with open_scene() as scene:
        assert (await scene.ask(upgrade().replace(b"/mcp", b"/")))[0] == 404
        assert (await scene.ask(upgrade().replace(b"GET", b"POST")))[0] == 400


async def test_a_peer_that_does_not_read_its_page_is_dropped(autojump_clock: MockClock) -> None:
    async with open_scene() as scene:
        stream = scene.dial()
        scene.ends[0].send_stream.send_all_hook = trio.sleep_forever
        await stream.send_all(http("GET /"))
        await trio.sleep(STRANGER_SECONDS - 1)
        assert scene.admission.statistics().strangers == 1
        await trio.sleep(2)
        assert scene.admission.statistics().strangers == 0


async def test_an_admitted_connection_is_not_a_stranger(autojump_clock: MockClock) -> None:
    async with open_scene() as scene:
        async with scene.websocket():
            assert scene.admission.statistics() == AdmissionStatistics(0, control=1, observe=0, turned_out=0)
            assert (scene.port.websockets, repr(scene.port)) == (1, "<Port with 1 WebSockets>")
        await trio.sleep(10)
        assert scene.admission.statistics() == AdmissionStatistics(0, control=0, observe=0, turned_out=0)
        assert scene.port.websockets == 0


async def test_an_error_while_a_connection_is_served_is_logged_and_ends_that_connection_only(
    autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async with open_scene() as scene:
        with monkeypatch.context() as patched:
            patched.setattr("trio_debugmcp.transports.port.answer_page", None)
            assert await scene.ask("GET /") == (0, {}, b"")
        assert "a connection failed" in caplog.text
        assert (await scene.ask("GET /"))[0] == 200
