"""Who is admitted at the port, and how everything else is refused. On memory streams; the clock is exact."""

import pytest
import trio
from trio.testing import MockClock

from tests.transports.scene import (
    BOUNDS,
    CONTROL,
    HOST,
    OBSERVE,
    PAGES,
    Kept,
    http,
    open_scene,
    read_answer,
    upgrade,
)
from trio_debugmcp.server.auth import Tokens
from trio_debugmcp.transports.admission import CROWDED_SECONDS, STRANGER_SECONDS, AdmissionStatistics, Refused
from trio_debugmcp.transports.gate import AllowedHost, Gate, is_loopback
from trio_debugmcp.transports.head import HEAD_SECONDS, MAX_HEAD_BYTES, Head
from trio_debugmcp.transports.port import IDLE_SECONDS, KEPT_SECONDS, MAX_REQUESTS


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
async def test_a_foreign_host_or_origin_is_refused_to_what_may_be_a_browser(
    headers: dict[str, str], autojump_clock: MockClock
) -> None:
    by_subprotocol = {"Authorization": "", "Sec_WebSocket_Protocol": f"mcp, bearer.{CONTROL}"}
    async with open_scene() as scene:
        assert (await scene.ask(upgrade(**by_subprotocol, **headers)))[0] == 403
        assert (await scene.ask(http("GET /", **headers)))[0] == 403
        with_page = {"Origin": f"http://{headers.get('Host', HOST)}", **headers}
        if headers.get("Host") or headers.get("Origin"):
            assert (await scene.ask(upgrade(**with_page)))[0] == 403


@pytest.mark.parametrize("host", ["localhost:9000", "127.0.0.1", "[::1]:1"])
async def test_a_loopback_name_is_ours_with_any_port_as_behind_a_forwarded_one(
    host: str, autojump_clock: MockClock
) -> None:
    async with open_scene() as scene:
        assert (await scene.ask(http("GET /", Host=host)))[0] == 200
        assert (await scene.ask(http("GET /", Host=host, Origin=f"http://{host}")))[0] == 200
        assert (await scene.ask(http("GET /", Host=host, Origin="http://localhost:1234")))[0] == 403


async def test_a_client_that_shows_its_token_in_a_header_may_use_any_host(autojump_clock: MockClock) -> None:
    async with open_scene() as scene:
        assert (await scene.ask(upgrade(Host="debugger.tools.svc:8766")))[0] == 101
        assert (await scene.ask(upgrade(Host="debugger.tools.svc:8766", Authorization="Bearer wrong")))[0] == 403


@pytest.mark.parametrize(
    ("allowed", "hosts", "foreign"),
    [
        ("debugger.example", ["debugger.example", "Debugger.Example:8443"], ["example", "x.debugger.example"]),
        ("debugger.example:8443", ["debugger.example:8443"], ["debugger.example", "debugger.example:443"]),
        ("debugger.example:443", ["debugger.example:443", "debugger.example"], ["debugger.example:8443"]),
        ("[fd00::5]:80", ["[fd00::5]:80", "[fd00::5]"], ["[fd00::6]:80"]),
    ],
)
def test_a_name_that_is_allowed_is_ours_as_its_pages_are_behind_a_proxy_that_speaks_tls(
    allowed: str, hosts: list[str], foreign: list[str]
) -> None:
    gate: Gate[str] = Gate("127.0.0.1", {"t": "control"}.get, allowed=[AllowedHost.parse(allowed)])
    for host in hosts:
        for scheme in ("http", "https"):
            gate.check_source(Head("GET", "/", (("host", host), ("origin", f"{scheme}://{host}"))))
    for host in foreign:
        with pytest.raises(Refused):
            gate.check_source(Head("GET", "/", (("host", host),)))


def test_a_refusal_says_how_the_name_is_allowed_and_repeats_nothing_else() -> None:
    gate: Gate[str] = Gate("127.0.0.1", {"t": "control"}.get)
    for host, remedy in (("debugger.example:80", "serve --allow-host debugger.example"), ("<b>\x1b[1m", "not ours")):
        with pytest.raises(Refused) as caught:
            gate.check_source(Head("GET", "/", (("host", host),)))
        assert caught.value.reason.endswith(remedy)


@pytest.mark.parametrize("text", ["https://debugger.example", "a b", "", "debugger.example:port", "-x", "*.example"])
def test_only_a_name_can_be_allowed(text: str) -> None:
    with pytest.raises(ValueError, match="NAME"):
        AllowedHost.parse(text)


@pytest.mark.parametrize("host", [HOST, "10.1.2.3:8000", "evil.example"])
async def test_a_probe_learns_that_the_server_lives_and_nothing_else(host: str, autojump_clock: MockClock) -> None:
    async with open_scene() as scene:
        status, _, body = await scene.ask(http("GET /healthz", Host=host))
        assert (status, body) == (200, b"ok\n")
        assert (await scene.ask(http("POST /healthz", Host=host)))[0] == 405


def test_at_a_reachable_address_a_numeric_host_is_ours_and_a_name_is_not() -> None:
    gate: Gate[str] = Gate("0.0.0.0", {"t": "control"}.get)
    for host in ("192.168.1.1", "192.168.1.1:81", "[fe80::1]", "localhost"):
        gate.check_source(Head("GET", "/", (("host", host),)))
    for host in ("evil.example", "", "[::1", "1.2.3.4.example"):
        with pytest.raises(Refused):
            gate.check_source(Head("GET", "/", (("host", host),)))
    assert [is_loopback(host) for host in ("127.0.0.2", "::1", "localhost", "0.0.0.0", "example")] == [
        True, True, True, False, False,
    ]  # fmt: skip


@pytest.mark.parametrize("hosts", [[], [HOST, HOST], [HOST, "evil.example"]])
def test_a_request_must_have_one_host(hosts: list[str]) -> None:
    gate: Gate[str] = Gate("127.0.0.1", {"t": "control"}.get)
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


# --- Several requests on a connection ---------------------------------------------------------------------------


async def test_requests_are_answered_one_after_another_on_one_connection(autojump_clock: MockClock) -> None:
    async with open_scene() as scene:
        kept = Kept(scene.dial())
        page, script = PAGES["/"], PAGES["/app.js"]
        status, headers, body = await kept.ask("GET /")
        assert (status, body, "connection" in headers) == (200, page.body, False)
        status, headers, body = await kept.ask("HEAD /app.js")
        assert (status, body, headers["content-length"]) == (200, b"", str(len(script.body)))
        status, headers, body = await kept.ask(http("GET /app.js", If_None_Match=script.etag))
        assert (status, body, "content-length" in headers) == (304, b"", False)
        assert (await kept.ask("GET /app.js"))[2] == script.body
        assert len(scene.ends) == 1
        assert trio.current_time() == 0


@pytest.mark.parametrize("size", [1, 50, 10_000])
async def test_requests_that_are_sent_ahead_are_answered_in_their_order(size: int, autojump_clock: MockClock) -> None:
    async with open_scene() as scene:
        kept = Kept(scene.dial())
        sent = http("GET /") + http("HEAD /app.js") + http("GET /app.js") + http("GET /")
        async with trio.open_nursery() as nursery:

            @nursery.start_soon
            async def _() -> None:
                for start in range(0, len(sent), size):
                    await kept.stream.send_all(sent[start : start + size])
                    await trio.sleep(0.01)

            bodies = [(await kept.read(body=number != 1))[2] for number in range(4)]
        page, script = PAGES["/"].body, PAGES["/app.js"].body
        assert bodies == [page, b"", script, page]


async def test_the_fourth_request_on_a_connection_is_the_last(autojump_clock: MockClock) -> None:
    async with open_scene() as scene:
        kept = Kept(scene.dial())
        await kept.stream.send_all(http("GET /") * (MAX_REQUESTS + 1))
        answers = [await kept.read() for _ in range(MAX_REQUESTS)]
        assert [headers.get("connection") for _, headers, _ in answers] == [*[None] * (MAX_REQUESTS - 1), "close"]
        assert await kept.rest() == b""


async def test_a_connection_without_a_further_request_is_closed_after_five_seconds(autojump_clock: MockClock) -> None:
    async with open_scene() as scene:
        kept = Kept(scene.dial())
        await kept.ask("GET /")
        await trio.sleep(IDLE_SECONDS - 1)
        await kept.ask("GET /")
        assert await kept.rest() == b""
        assert trio.current_time() == 2 * IDLE_SECONDS - 1
        await trio.testing.wait_all_tasks_blocked()
        assert scene.admission.statistics() == AdmissionStatistics(0, control=0, observe=0, turned_out=0)


async def test_after_ten_seconds_no_further_request_is_waited_for(autojump_clock: MockClock) -> None:
    async with open_scene() as scene:
        kept = Kept(scene.dial())
        await trio.sleep(KEPT_SECONDS - 1)
        assert "connection" not in (await kept.ask("GET /"))[1]
        await trio.sleep(1)
        status, headers, _ = await kept.ask("GET /")
        assert (status, headers["connection"]) == (200, "close")
        assert await kept.rest() == b""


async def test_the_head_of_a_further_request_has_ten_seconds_from_its_first_byte(autojump_clock: MockClock) -> None:
    async with open_scene() as scene:
        kept = Kept(scene.dial())
        await kept.ask("GET /")
        await trio.sleep(IDLE_SECONDS - 1)
        await kept.stream.send_all(http("GET /")[:20])
        status, headers, _ = await kept.read()
        assert (status, headers["connection"]) == (408, "close")
        assert trio.current_time() == IDLE_SECONDS - 1 + HEAD_SECONDS


async def test_a_connection_ends_with_the_request_that_says_so(autojump_clock: MockClock) -> None:
    async with open_scene() as scene:
        kept = Kept(scene.dial())
        await kept.stream.send_all(http("GET /", Connection="Close") + http("GET /"))
        status, headers, body = await kept.read()
        assert (status, headers["connection"], body) == (200, "close", PAGES["/"].body)
        assert await kept.rest() == b""


@pytest.mark.parametrize("length", [{"Content_Length": "51"}, {"Transfer_Encoding": "chunked"}])
async def test_what_comes_with_a_request_is_not_taken_for_another_one(
    length: dict[str, str], autojump_clock: MockClock
) -> None:
    async with open_scene() as scene:
        kept = Kept(scene.dial())
        await kept.stream.send_all(http("GET /", **length) + http("GET /app.js"))
        status, headers, body = await kept.read()
        assert (status, headers["connection"], body) == (200, "close", PAGES["/"].body)
        assert await kept.rest() == b""
        assert (await Kept(scene.dial()).ask(http("GET /", Content_Length="0")))[1].get("connection") is None


@pytest.mark.parametrize(
    ("request_bytes", "expected"),
    [(http("GET /nothing"), 404), (http("POST /"), 405), (http("GET /", Host="evil.example"), 403), (b"\r\n\r\n", 400),
     (b"GET / HTTP/1.0\r\nHost: x\r\n\r\n", 505), (http("GET /mcp"), 401),
     (b"GET / HTTP/1.1\r\n" + b"a: b\r\n" * 101, 431)],
)  # fmt: skip
async def test_a_further_request_that_is_refused_ends_the_connection(
    request_bytes: bytes, expected: int, autojump_clock: MockClock
) -> None:
    async with open_scene() as scene:
        kept = Kept(scene.dial())
        await kept.stream.send_all(http("GET /") + request_bytes + http("GET /"))
        assert (await kept.read())[0] == 200
        status, headers, _ = await kept.read()
        assert (status, headers["connection"]) == (expected, "close")
        assert "default-src 'none'" in headers["content-security-policy"]
        assert await kept.rest() == b""


async def test_a_websocket_is_opened_on_a_connection_that_was_used_for_pages(autojump_clock: MockClock) -> None:
    async with open_scene() as scene:
        kept = Kept(scene.dial())
        await kept.ask("GET /")
        await kept.stream.send_all(http("GET /app.js") + upgrade() + b"\x89\x80\0\0\0\0")  # a ping
        assert (await kept.read())[0] == 200
        assert (await kept.read())[0] == 101
        assert scene.admission.statistics() == AdmissionStatistics(0, control=1, observe=0, turned_out=0)
        await kept.stream.send_all(b"\x88\x80\0\0\0\0")  # close
        assert await kept.rest() == b"\x8a\x00\x88\x00"  # a pong, and closed as well


async def test_a_connection_that_waits_for_its_next_request_makes_room_at_once_for_another(
    autojump_clock: MockClock,
) -> None:
    async with open_scene() as scene:
        silent = [Kept(scene.dial()) for _ in range(BOUNDS.strangers - 2)]
        busy = Kept(scene.dial())
        await busy.ask("GET /")
        await busy.stream.send_all(http("GET /")[:10])
        idle = Kept(scene.dial())
        await idle.ask("GET /")
        await trio.sleep(CROWDED_SECONDS)
        started = trio.current_time()
        await scene.admission.wait_for_room()
        assert trio.current_time() == started
        assert await idle.rest() == b""
        assert scene.admission.statistics() == AdmissionStatistics(BOUNDS.strangers - 1, 0, 0, turned_out=0)
        await busy.stream.send_all(http("GET /")[10:])
        assert (await busy.read())[0] == 200
        for each in silent:
            assert (await each.ask("GET /"))[0] == 200


async def test_it_keeps_its_place_for_as_long_as_any_other_connection_has_it(autojump_clock: MockClock) -> None:
    async with open_scene() as scene:
        kept = [Kept(scene.dial()) for _ in range(BOUNDS.strangers)]
        for each in kept:
            await each.ask("GET /")
        started = trio.current_time()
        await scene.admission.wait_for_room()
        assert trio.current_time() - started == CROWDED_SECONDS


async def test_a_peer_that_leaves_between_two_requests_is_forgotten(autojump_clock: MockClock) -> None:
    async with open_scene() as scene:
        kept = Kept(scene.dial())
        await kept.ask("GET /")
        await kept.stream.aclose()
        await trio.testing.wait_all_tasks_blocked()
        await trio.sleep(CROWDED_SECONDS)
        assert scene.admission.statistics() == AdmissionStatistics(0, control=0, observe=0, turned_out=0)
        assert trio.current_time() == CROWDED_SECONDS


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
            assert repr(scene.port) == "<Port with 1 WebSockets>"
        await trio.sleep(10)
        assert scene.admission.statistics() == AdmissionStatistics(0, control=0, observe=0, turned_out=0)
        assert repr(scene.port) == "<Port with 0 WebSockets>"


async def test_an_error_while_a_connection_is_served_is_logged_and_ends_that_connection_only(
    autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async with open_scene() as scene:
        with monkeypatch.context() as patched:
            patched.setattr("trio_debugmcp.transports.port.answer_page", None)
            assert await scene.ask("GET /") == (0, {}, b"")
        assert "a connection failed" in caplog.text
        assert (await scene.ask("GET /"))[0] == 200
