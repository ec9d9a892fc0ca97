"""OAuth, against the SDK's authorisation server: real sockets on loopback, hence the real clock."""

import json
import stat
from pathlib import Path

import pytest
import trio

from tests.client.guarded_server import Person, open_guarded_server
from trio_debugmcp.client import InspectorClient, InspectorOptions, NotAuthorized, OAuth
from trio_debugmcp.client.oauth import default_store

pytestmark = [
    pytest.mark.real,
    pytest.mark.filterwarnings("ignore:Async generator 'http(x|core)2:ResourceWarning"),
]


async def call(url: str, oauth: OAuth | None) -> str:
    with trio.fail_after(120):
        async with InspectorClient(url, InspectorOptions(oauth=oauth)) as client:
            return str((await client.call_tool("whoami")).result)


async def test_a_person_authorises_once_and_the_tokens_are_kept_for_their_owner_alone(tmp_path: Path) -> None:
    store, person = tmp_path / "new" / "tokens.json", Person()
    async with open_guarded_server() as (url, issuer):
        assert "somebody" in await call(url, OAuth(open_url=person, store=store))
        assert stat.S_IMODE(store.stat().st_mode) == 0o600
        assert stat.S_IMODE(store.parent.stat().st_mode) == 0o700
        assert list(store.parent.iterdir()) == [store]
        assert "somebody" in await call(url, OAuth(open_url=person, store=store))
        assert "somebody" in await call(url, OAuth(store=store)), "and without a person to ask"
        assert (person.asked, len(issuer.clients)) == (1, 1)
        assert "You can close this page" in person.pages[0]


async def test_an_expired_token_is_refreshed_without_asking_also_by_the_next_program(tmp_path: Path) -> None:
    store, person = tmp_path / "tokens.json", Person()
    async with open_guarded_server() as (url, issuer):
        await call(url, OAuth(open_url=person, store=store))
        expire(store)
        assert "somebody" in await call(url, OAuth(store=store))
        assert (issuer.refreshed, person.asked) == (1, 1)
        assert "somebody" in await call(url, OAuth(store=store)), "the refreshed ones are kept"
        assert issuer.refreshed == 1


async def test_the_token_is_refreshed_at_the_server_that_issued_it(tmp_path: Path) -> None:
    """The SDK's provider alone guesses it from the URL of the MCP server after a restart."""
    store = tmp_path / "tokens.json"
    async with open_guarded_server() as (url, issuer):
        await call(url, OAuth(open_url=Person(), store=store))
        grant = json.loads(store.read_text())
        assert grant["metadata"]["token_endpoint"] == url.removesuffix("/mcp") + "/token"
        grant["metadata"]["token_endpoint"] = "http://127.0.0.1:9/elsewhere"
        store.write_text(json.dumps({**grant, "expires_at": 1}))
        with pytest.raises(Exception, match="connect"):
            await call(url, OAuth(store=store))
        assert issuer.refreshed == 0


async def test_a_person_is_asked_again_when_the_refresh_token_is_not_accepted(tmp_path: Path) -> None:
    store, person = tmp_path / "tokens.json", Person()
    async with open_guarded_server() as (url, issuer):
        await call(url, OAuth(open_url=person, store=store))
        expire(store)
        issuer.refresh.clear()
        with pytest.raises(NotAuthorized, match="stored tokens any more"):
            await call(url, OAuth(store=store))
        assert "somebody" in await call(url, OAuth(open_url=person, store=store))
        assert (person.asked, len(issuer.clients)) == (2, 1)


async def test_a_refusal_is_reported_in_the_servers_words(tmp_path: Path) -> None:
    store, person = tmp_path / "tokens.json", Person()
    async with open_guarded_server() as (url, issuer):
        issuer.refuses = True
        with pytest.raises(NotAuthorized, match="access_denied: the person has said no"):
            await call(url, OAuth(open_url=person, store=store))
        assert "Not authorised" in person.pages[0]


async def test_a_person_has_longer_than_the_server_has_for_the_handshake(tmp_path: Path) -> None:
    async def slow(page: str) -> None:
        await trio.sleep(6.2)
        await Person()(page)

    oauth = OAuth(open_url=slow, store=tmp_path / "tokens.json")
    options = InspectorOptions(oauth=oauth, connect_timeout=6, request_timeout=6)
    async with open_guarded_server() as (url, _), InspectorClient(url, options) as client:
        assert client.status == "connected"


async def test_the_wait_for_a_person_is_bounded(tmp_path: Path) -> None:
    async def absent(page: str) -> None:
        pass

    async with open_guarded_server() as (url, _):
        with pytest.raises(NotAuthorized, match=r"No answer from the browser within 0\.2 s"):
            await call(url, OAuth(open_url=absent, store=tmp_path / "tokens.json", wait=0.2))


async def test_without_tokens_and_without_a_person_the_reason_is_named_and_nothing_registered(tmp_path: Path) -> None:
    async with open_guarded_server() as (url, issuer):
        with pytest.raises(NotAuthorized, match="requires an authorisation, and there is no person to ask"):
            await call(url, OAuth(store=tmp_path / "tokens.json"))
        assert not issuer.clients


async def test_a_header_with_a_token_takes_precedence(tmp_path: Path) -> None:
    store, person = tmp_path / "tokens.json", Person()
    async with open_guarded_server() as (url, _):
        await call(url, OAuth(open_url=person, store=store))
        token = json.loads(store.read_text())["tokens"]["access_token"]
        store.unlink()
        options = InspectorOptions(
            headers={"authorization": f"Bearer {token}"}, oauth=OAuth(open_url=person, store=store)
        )
        async with InspectorClient(url, options) as client:
            assert client.status == "connected"
        assert person.asked == 1


@pytest.mark.parametrize(("mode", "text", "reason"), [(0o644, "{}", "chmod 600"), (0o600, "{", "damaged")])
async def test_a_file_that_others_can_read_or_that_is_damaged_is_refused(
    mode: int, text: str, reason: str, tmp_path: Path
) -> None:
    store = tmp_path / "tokens.json"
    store.write_text(text)
    store.chmod(mode)
    async with open_guarded_server() as (url, _):
        with pytest.raises(NotAuthorized, match=reason):
            await call(url, OAuth(open_url=Person(), store=store))


def expire(store: Path) -> None:
    grant = json.loads(store.read_text())
    assert grant["expires_at"] > 0
    store.write_text(json.dumps({**grant, "expires_at": 1}))


def test_each_server_has_its_file_below_the_state_directory(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    one, two = default_store("https://Example.com/mcp"), default_store("https://example.com/other")
    assert one == default_store("https://example.com/mcp#part")
    assert one != two
    assert one.parent == tmp_path / "trio-debugmcp" / "oauth"
    assert one.name.startswith("example.com-")


async def test_tokens_of_a_client_that_is_registered_anew_are_dropped(tmp_path: Path) -> None:
    store, person = tmp_path / "tokens.json", Person()
    async with open_guarded_server() as (url, issuer):
        await call(url, OAuth(open_url=person, store=store))
        grant = json.loads(store.read_text())
        store.write_text(json.dumps({**grant, "client": {**grant["client"], "issuer": "https://other.example"}}))
        issuer.access.clear()
        issuer.refuses = True
        with pytest.raises(NotAuthorized):
            await call(url, OAuth(open_url=person, store=store))
        assert "tokens" not in json.loads(store.read_text())
        assert len(issuer.clients) == 2
