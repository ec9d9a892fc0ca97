"""`serve` with network transports, as processes: several clients in one session, how it ends, TLS, tokens."""

import json
import os
import resource
import socket
import ssl
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import trio
import trustme
from mcp.client.extension import advertise

from tests import warm
from tests.editors.bench import EditorClient
from tests.real.conftest import program
from tests.transports.conftest import ServerProcess, StartServer
from tests.transports.scene import CONTROL, INITIALIZE, OBSERVE, http
from trio_debugmcp.dap.codec import encode_frame
from trio_debugmcp.server.card_resource import MIME_TYPE, URI
from trio_debugmcp.server.declared import CARDS_EXTENSION
from trio_debugmcp.testing import connect_http, connect_process, connect_websocket
from trio_debugmcp.testing.connect import Era
from trio_debugmcp.transports.admission import MAX_STRANGERS

SESSION = "debugger://session"

pytestmark = [
    pytest.mark.real,
    pytest.mark.filterwarnings("ignore:Async generator 'http(x|core)2:ResourceWarning"),  # of the SDK's HTTP client
]

both_eras = pytest.mark.parametrize("era", ["legacy", "modern"])


@both_eras
async def test_an_agent_on_stdio_and_people_on_the_network_share_one_real_session(
    era: Era, serving: StartServer
) -> None:
    async with (
        serving("--ws", "0", "--http", "0") as server,
        connect_process(server.process, era) as agent,
        connect_websocket(await server.websocket_url(), OBSERVE, era) as person,
        connect_http(await server.http_url(), OBSERVE, era) as remote,
        person.subscribed(SESSION),
        remote.subscribed(SESSION),
    ):
        await agent.call("debug_launch", program=program("steps.py"))
        for observer in (person, remote):
            await observer.wait_notice("list_changed")
            assert (await observer.read(SESSION))["state"] == "Paused"
        seen = [len(person.notices), len(remote.notices)]
        stop = await agent.call("debug_step")
        for observer, before in zip((person, remote), seen, strict=True):
            notice = await observer.wait_notice(SESSION, after=before)
            assert notice.at <= trio.current_time()
            location = (await observer.read(SESSION))["currentLocation"]
            assert stop["at"].endswith(f"steps.py:{location['line']} in {location['functionName']}")
            assert "debug_step" not in {tool.name for tool in (await observer.sdk.list_tools()).tools}
        await agent.call("debug_disconnect")
        await person.wait_notices(lambda notices: [n for n in notices if n.what == "list_changed"][1:])


async def test_a_remote_client_in_control_can_launch_and_disconnect(serving: StartServer) -> None:
    async with serving("--http", "0", "--ws", "0", "--no-stdio") as server:
        for client in (
            connect_http(await server.http_url(), CONTROL, "legacy"),
            connect_http(await server.http_url(), CONTROL, "modern"),
            connect_websocket(await server.websocket_url(), CONTROL, "modern"),
        ):
            async with client as remote:
                stop = await remote.call("debug_launch", program=program("steps.py"))
                assert stop["reason"] == "Entry"
                await remote.call("debug_disconnect")


@both_eras
async def test_a_host_gets_cards_on_every_transport_by_what_it_declares_itself(era: Era, serving: StartServer) -> None:
    """Over HTTP, all clients of the modern era share a server."""
    cards = [advertise(CARDS_EXTENSION, {"mimeTypes": [MIME_TYPE]})]
    async with serving("--ws", "0", "--http", "0") as server:
        http, websocket = await server.http_url(), await server.websocket_url()
        async with (
            connect_process(server.process, era, extensions=cards) as agent,
            connect_http(http, CONTROL, era, extensions=cards) as chat,
            connect_websocket(websocket, CONTROL, era, extensions=cards) as editor,
            connect_http(http, CONTROL, era) as other,
            connect_websocket(websocket, CONTROL, era) as another,
        ):
            for client, draws in ((agent, True), (chat, True), (editor, True), (other, False), (another, False)):
                tools = (await client.sdk.list_tools()).tools
                assert any("ui" in (tool.meta or {}) for tool in tools) is draws
                assert (await client.uris() == [URI]) is draws


# --- The end -------------------------------------------------------------------------------------------------


async def test_the_end_of_stdin_ends_the_server_if_no_other_client_is_connected(serving: StartServer) -> None:
    async with serving("--ws", "0") as server:
        await server.websocket_url()
        assert server.process.stdin is not None
        await server.process.stdin.aclose()
        with trio.fail_after(120):
            assert await server.process.wait() == 0


async def test_after_the_end_of_stdin_the_last_other_client_ends_the_server(serving: StartServer) -> None:
    async with serving("--ws", "0") as server:
        async with connect_websocket(await server.websocket_url(), CONTROL) as other:
            async with connect_process(server.process) as agent:
                await agent.call("debug_launch", program=program("steps.py"))
            assert server.process.stdin is not None
            await server.process.stdin.aclose()
            assert (await other.call("debug_step"))["state"] == "Paused"
        with trio.fail_after(120):
            assert await server.process.wait() == 0


async def test_observers_alone_keep_the_session_and_the_server_for_the_linger_time(serving: StartServer) -> None:
    async with serving("--ws", "0", "--linger", "1.5") as server:
        async with connect_websocket(await server.websocket_url(), OBSERVE) as person:
            async with connect_process(server.process) as agent:
                await agent.call("debug_launch", program=program("steps.py"))
            assert server.process.stdin is not None
            await server.process.stdin.aclose()
            assert (await person.call("debug_state"))["state"] == "Paused"
            await person.wait_notices(lambda notices: [n for n in notices if n.what == "list_changed"][1:])
        with trio.fail_after(120):
            assert await server.process.wait() == 0


async def test_without_stdio_the_server_runs_until_a_signal(serving: StartServer) -> None:
    async with serving("--ws", "0", "--no-stdio", "--patience", "1") as server:
        url = await server.websocket_url()
        assert server.process.stdin is not None
        await server.process.stdin.aclose()
        async with connect_websocket(url, CONTROL) as client:
            await client.call("debug_launch", program=program("steps.py"))
            server.process.terminate()
            with trio.fail_after(120):
                assert await server.process.wait() == 0


# --- Ports that are in use ------------------------------------------------------------------------------------


@pytest.fixture
def taken() -> Iterator[str]:
    """A port that another program listens on."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield str(listener.getsockname()[1])


async def test_a_second_chat_has_its_debugger_although_its_ports_are_those_of_the_first(
    taken: str, serving: StartServer
) -> None:
    async with serving("--ws", taken, "--dap", taken, "--http", "0") as server:
        async with connect_process(server.process) as agent:
            assert (await agent.call("debug_state"))["state"] == "Disconnected"
            await server.http_url()  # the other transports are there
        assert server.stderr.count(f"WARNING: 127.0.0.1:{taken} is in use") == 2
        assert "dashboard" not in server.stderr


def test_without_stdio_a_port_that_is_in_use_is_an_error(taken: str) -> None:
    command = warm.server("serve", "--ws", taken, "--no-stdio")
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert f"cannot listen on 127.0.0.1:{taken}" in done.stderr
    assert "WARNING" not in done.stderr


# --- Access ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("token", [None, "wrong"])
async def test_over_http_requests_without_a_valid_token_or_from_another_site_are_refused(
    token: str | None, serving: StartServer
) -> None:
    from mcp.shared._httpx_utils import create_mcp_http_client

    async with serving("--http", "0", "--no-stdio") as server, create_mcp_http_client() as http:
        url = await server.http_url()
        good = {"Accept": "application/json, text/event-stream", "Authorization": f"Bearer {CONTROL}"}
        shown = {"Authorization": "" if token is None else f"Bearer {token}"}
        assert (await http.post(url, json=INITIALIZE, headers={**shown})).status_code == 401
        evil, page = {"Host": "evil.example"}, {"Origin": "http://evil.example"}
        for foreign in ({**evil, **shown}, {**evil, **page}, page, {"Origin": "null"}):
            assert (await http.post(url, json=INITIALIZE, headers={**good, **foreign})).status_code == 403
        assert (await http.get(url.replace("/mcp", "/other"), headers=good)).status_code == 404
        assert (await http.post(url, json=INITIALIZE, headers=good)).status_code == 200
        opened = await http.post(url, json=INITIALIZE, headers=good)
        session = {"Mcp-Session-Id": opened.headers["mcp-session-id"]}
        as_observer = {**good, "Authorization": f"Bearer {OBSERVE}", **session}
        assert (await http.post(url, json=INITIALIZE, headers=as_observer)).status_code == 404
        too_big = "x" * (4 * 1024 * 1024 + 1)
        assert (await http.post(url, content=too_big, headers=good)).status_code == 413
        assert (await http.delete(url, headers={**good, **session})).status_code == 200
        assert (await http.delete(url, headers={**good, **session})).status_code == 404
        long = {**good, "X-Long": "x" * 40_000}
        assert (await http.post(url, json=INITIALIZE, headers=long)).status_code in (400, 431)


def port_of(url: str) -> int:
    return urlsplit(url).port or 0


def certified(folder: Path) -> tuple[ssl.SSLContext, tuple[str, ...]]:
    """Make a certificate for this machine; return who trusts it, and the options of a server that shows it."""
    authority = trustme.CA()
    certificate = authority.issue_cert("127.0.0.1", "localhost")
    cert, key = folder / "cert.pem", folder / "key.pem"
    certificate.private_key_pem.write_to_path(str(key))
    for blob in certificate.cert_chain_pems:
        blob.write_to_path(str(cert), append=True)
    context = ssl.create_default_context()
    authority.configure_trust(context)
    return context, ("--tls-cert", str(cert), "--tls-key", str(key))


async def test_page_websocket_and_http_over_tls(serving: StartServer, tmp_path: Path) -> None:
    context, options = certified(tmp_path)
    async with serving("--ws", "0", "--http", "0", "--no-stdio", *options) as server:
        url = await server.websocket_url()
        assert url.startswith("wss://127.0.0.1:")
        async with connect_websocket(url, OBSERVE, ssl_context=context) as client:
            assert await client.uris() == []
        http_url = await server.http_url()
        assert http_url.startswith("https://127.0.0.1:")
        for each in (url, http_url):  # plain text on the TLS port does no harm
            with trio.fail_after(120):
                plain = await trio.open_tcp_stream("127.0.0.1", port_of(each))
                async with plain:
                    await plain.send_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
                    with suppress(trio.BrokenResourceError):
                        while await plain.receive_some():
                            pass
        async with connect_websocket(url, OBSERVE, ssl_context=context) as client:
            assert await client.uris() == []
        stream = await trio.open_ssl_over_tcp_stream(
            "127.0.0.1", port_of(http_url), ssl_context=context, https_compatible=True
        )
        async with stream:
            body = json.dumps(INITIALIZE).encode()
            headers = {
                "Host": f"127.0.0.1:{port_of(http_url)}",
                "Origin": f"https://127.0.0.1:{port_of(http_url)}",
                "Authorization": f"Bearer {OBSERVE}",
                "Accept": "application/json, text/event-stream",
                "Content-Type": "application/json",
                "Content-Length": str(len(body)),
            }
            await stream.send_all(http("POST /mcp", **headers) + body)
            assert bytes(await stream.receive_some()).startswith(b"HTTP/1.1 200")


async def test_an_editor_joins_over_tls_and_one_without_it_learns_nothing_and_does_no_harm(
    serving: StartServer, tmp_path: Path
) -> None:
    context, options = certified(tmp_path)
    async with serving("--dap", "0", *options) as server, connect_process(server.process) as agent:
        port = int(await server.said(r"dap: 127\.0\.0\.1:(\d+) \(TLS; .* tunnel"))
        await agent.call("debug_launch", program=program("steps.py"))
        for say in (True, False):  # plain text on the TLS port, and silence until the editor leaves
            plain = await trio.open_tcp_stream("127.0.0.1", port)
            async with plain:
                hello = b'{"seq":1,"type":"request","command":"initialize","arguments":{"adapterID":"x"}}'
                with trio.fail_after(120), suppress(trio.BrokenResourceError):
                    await plain.send_all(encode_frame(hello) if say else b"")
                    while say and (data := bytes(await plain.receive_some())):
                        assert b"Content-Length" not in data
        stream = await trio.open_ssl_over_tcp_stream("127.0.0.1", port, ssl_context=context, https_compatible=True)
        async with stream, trio.open_nursery() as nursery:
            editor = EditorClient(stream)
            nursery.start_soon(editor.receive)
            await editor.join(CONTROL)
            assert (await editor.wait_event("stopped"))["reason"] == "entry"
            await editor.ask("next", threadId=1)
            assert (await editor.wait_event("stopped", 2))["reason"] == "step"
            large = await editor.ask("evaluate", expression="'x' * 300_000", context="clipboard")
            assert len(large["result"]) > 300_000
            await editor.ask("disconnect")
            await editor.wait_closed()
        assert "stepped over" in str((await agent.call("debug_state"))["notes"])
        await agent.call("debug_disconnect")


async def printed_configuration(server: ServerProcess) -> Any:
    """The configuration for VS Code that the server has printed."""
    return json.loads(await server.said(r"launch\.json of VS Code: (\{.*\})\n"))


def need_ipv6() -> None:
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        pytest.skip("this machine has no IPv6")


@pytest.mark.parametrize(("address", "host"), [("0", "127.0.0.1"), ("localhost:0", "localhost"), ("[::1]:0", "::1")])
async def test_an_editor_joins_by_the_configuration_that_the_server_prints(
    address: str, host: str, serving: StartServer
) -> None:
    if host == "::1":
        need_ipv6()
    async with serving("--dap", address, tokens=False) as server, connect_process(server.process) as agent:
        configuration = await printed_configuration(server)
        assert {*configuration} == {"name", "type", "request", "connect", "token", "wait"}
        place = configuration["connect"]
        assert (configuration["type"], place["host"]) == ("debugpy", host)
        assert server.stderr.count(configuration["token"]) == 1
        stream = await trio.open_tcp_stream(place["host"], place["port"])
        async with stream, trio.open_nursery() as nursery:
            editor = EditorClient(stream)
            nursery.start_soon(editor.receive)
            await editor.initialize(adapterID=configuration["type"])
            await editor.send(configuration["request"], configuration)
            await editor.wait_event("initialized")  # there is no session yet: it waits
            await editor.ask("configurationDone")
            if host == "127.0.0.1":
                await agent.call("debug_launch", program=program("steps.py"))
                assert (await editor.wait_event("stopped"))["reason"] == "entry"
                await editor.ask("next", threadId=1)
                assert (await editor.wait_event("stopped", 2))["reason"] == "step"
            await editor.ask("disconnect")
            await editor.wait_closed()


async def test_a_token_that_was_given_is_not_in_the_printed_configuration_and_does_in_its_place(
    serving: StartServer,
) -> None:
    async with serving("--dap", "0") as server, connect_process(server.process):
        configuration = await printed_configuration(server)
        assert CONTROL not in server.stderr
        place = configuration["connect"]
        for token, joins in ((configuration["token"], False), (CONTROL, True)):
            stream = await trio.open_tcp_stream(place["host"], place["port"])
            async with stream, trio.open_nursery() as nursery:
                editor = EditorClient(stream)
                nursery.start_soon(editor.receive)
                await editor.initialize()
                await editor.send("attach", {**configuration, "token": token})
                await (editor.wait_event("initialized") if joins else editor.wait_closed())
                nursery.cancel_scope.cancel()


@pytest.mark.nightly("a thousand connections take 20 s; fewer are in test_attacks.py")
async def test_a_thousand_connections_to_the_port_of_editors_hold_up_no_agent_and_give_their_descriptors_back(
    serving: StartServer,
) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, max(soft, 4096)), hard))
    number_of_connections = min(1000, resource.getrlimit(resource.RLIMIT_NOFILE)[0] - 500)
    async with serving("--dap", "0", cold=True) as server, connect_process(server.process) as agent:
        port = int(await server.said(r"dap: 127\.0\.0\.1:(\d+)"))
        await agent.call("debug_launch", program=program("busy.py"))

        def descriptors() -> int:
            return len(os.listdir(f"/proc/{server.process.pid}/fd"))

        before, most, answered, is_over = descriptors(), 0, 0, False

        async def work() -> None:
            nonlocal most, answered
            while not is_over:
                with trio.fail_after(120):
                    assert (await agent.call("evaluate", expression="6 * 7"))["value"] == "42"
                    assert (await agent.call("debug_step"))["state"] == "Paused"
                answered += 1
                most = max(most, descriptors())

        hello = encode_frame(b'{"seq": 1, "type": "request", "command": "initialize", "arguments": {}}')
        strangers = []
        async with trio.open_nursery() as nursery:
            nursery.start_soon(work)
            for number in range(number_of_connections):
                stranger = await trio.open_tcp_stream("127.0.0.1", port)
                strangers.append(stranger)
                with suppress(trio.BrokenResourceError):  # it has made room for another one
                    await stranger.send_all((hello, hello[:-9], b"", b"GET / HTTP/1.1\r\n\r\n")[number % 4])
            is_over = True
        assert answered > 2, "rounds of two calls, each within seconds"
        assert most <= before + MAX_STRANGERS + 2  # the next one is accepted while the oldest is closed
        stream = await trio.open_tcp_stream("127.0.0.1", port)
        async with stream, trio.open_nursery() as nursery:
            editor = EditorClient(stream)
            nursery.start_soon(editor.receive)
            await editor.join(CONTROL)  # behind them all
            await editor.wait_event("stopped")
            await agent.call("debug_step")
            await editor.wait_event("continued")
            await editor.ask("disconnect")
            await editor.wait_closed()
        for stranger in strangers:
            await trio.aclose_forcefully(stranger)
        with trio.fail_after(120):
            while descriptors() > before:
                await trio.sleep(0.05)
        await agent.call("debug_disconnect")


async def test_random_tokens_are_printed_once_and_never_logged(serving: StartServer, tmp_path: Path) -> None:
    log = tmp_path / "log"
    arguments = ("--ws", "0", "--no-stdio", "--log-level", "debug", "--log-file", str(log))
    async with serving(*arguments, tokens=False) as server:
        observe = await server.said(r"dashboard to observe: http://127.0.0.1:\d+/#token=(\S+)\n")
        control = await server.said(r"with control: http://127.0.0.1:\d+/#token=(\S+)\n")
        url = await server.websocket_url()
        for token in (observe, control):
            async with connect_websocket(url, token) as client:
                await client.uris()
            assert server.stderr.count(token) == 1
        text = log.read_text()
        assert text
        assert observe not in text
        assert control not in text


async def test_given_tokens_are_not_printed(serving: StartServer) -> None:
    async with serving("--ws", "0", "--http", "0", "--no-stdio", "--log-level", "debug") as server:
        async with connect_websocket(await server.websocket_url(), CONTROL) as client:
            await client.uris()
        async with connect_http(await server.http_url(), OBSERVE, "modern") as client:
            await client.uris()
        assert CONTROL not in server.stderr
        assert OBSERVE not in server.stderr


async def test_an_address_that_other_machines_can_reach_has_a_warning(serving: StartServer) -> None:
    async with serving("--ws", "0.0.0.0:0", "--no-stdio") as server:
        await server.said("WARNING: other machines can reach 0.0.0.0")
        await server.said("unencrypted")
        assert (await server.websocket_url()).startswith("ws://127.0.0.1:")


async def test_fifty_clients_connect_and_disconnect_and_leave_no_descriptor(serving: StartServer) -> None:
    async with serving("--ws", "0", "--http", "0", "--no-stdio", cold=True) as server:
        websocket, http = await server.websocket_url(), await server.http_url()
        descriptors = Path(f"/proc/{server.process.pid}/fd")
        if not descriptors.exists():
            pytest.skip("needs /proc")
        async with connect_websocket(websocket, OBSERVE) as client:
            await client.uris()
        before = len(os.listdir(descriptors))
        for number in range(50):
            era: Era = "modern" if number % 2 else "legacy"
            connect = (
                connect_http(http, OBSERVE, era) if number % 5 == 0 else connect_websocket(websocket, OBSERVE, era)
            )
            async with connect as client:
                await client.uris()
        with trio.fail_after(120):
            while len(os.listdir(descriptors)) > before:
                await trio.sleep(0.1)


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["--no-stdio"], 2, "--ws, --http, --dap or --kept"),
        (["--ws", "nonsense"], 2, "[HOST:]PORT"),
        (["--ws", "70000"], 2, "65535"),
        (["--ws", "0", "--tls-cert", "x"], 2, "belong together"),
        (["--http", "0", "--page-sources"], 2, "--page-sources needs --ws"),
        (["--ws", "0", "--linger", "-1"], 2, "--linger"),
        (["--ws", "0", "--token", "a b"], 2, "characters"),
        (["--ws", "0", "--token", "same", "--observe-token", "same"], 2, "differ"),
        (["--ws", "0", "--tls-cert", __file__, "--tls-key", "/nowhere"], 1, "--tls-key /nowhere cannot be read: No"),
        (["--ws", "0", "--tls-cert", __file__, "--tls-key", __file__], 1, "are not a certificate and its key, as PEM"),
        (["--ws", "192.0.2.1:0"], 1, "192.0.2.1"),
    ],
)
def test_arguments_that_cannot_be_served_are_refused_in_a_line(arguments: list[str], code: int, words: str) -> None:
    command = warm.server("serve", *arguments)
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stdout) == (code, "")
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert "a b" not in done.stderr
