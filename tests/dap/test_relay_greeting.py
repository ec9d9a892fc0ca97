"""How a relay and the port for programs know each other; who has overheard it, or stands between, gets in nowhere."""

import pytest
import trio
from trio.testing import memory_stream_pair

from trio_debugmcp.dap.door_tls import RELAYS, RelayRefused, answered, greeted, proof

PIN = "ab" * 32


async def meet(
    token: str = "secret", pin: str = PIN, port_token: str = "secret", port_pin: str = PIN
) -> tuple[object, object]:
    """What becomes of both sides: what they have received beyond the greeting, or why they part."""
    ours, theirs = memory_stream_pair()
    ended: dict[str, object] = {}

    async def relay() -> None:
        try:
            ended["relay"] = await greeted(ours, token, pin)
        except RelayRefused as error:
            ended["relay"] = str(error)

    with trio.fail_after(5):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(relay)
            received = bytes(await theirs.receive_some())
            assert received.startswith(RELAYS)
            await theirs.send_all(b"Content-Length: 2\r\n\r\n{}")  # meant for a debugger
            try:
                ended["port"] = await answered(theirs, received, port_token, port_pin)
            except RelayRefused as error:
                ended["port"] = str(error)
    return ended["relay"], ended["port"]


async def test_both_know_the_token_and_neither_has_sent_it() -> None:
    assert await meet() == (b"", b"")
    assert "secret" not in repr(proof("secret", b"relay", PIN, b"1", b"2"))


async def test_a_relay_with_another_token_is_refused_and_gets_the_reason() -> None:
    why = "a relay that does not know the token"
    assert await meet(token="yesterday") == (why, why)


async def test_one_that_stands_between_with_a_certificate_of_its_own_cannot_pass_a_proof_on() -> None:
    assert (await meet(pin="cd" * 32))[1] == "a relay that does not know the token"


async def test_a_port_without_tls_takes_no_relay() -> None:
    assert (await meet(port_pin=""))[0] == "a relay, and this port does not speak TLS"


async def test_what_was_overheard_is_refused_the_next_time() -> None:
    said = []
    for attempt in ("first", "again"):
        ours, theirs = memory_stream_pair()
        async with trio.open_nursery() as nursery:

            async def port(stream: trio.abc.Stream, is_replay: bool) -> None:
                received = bytes(await stream.receive_some())
                if is_replay:
                    with pytest.raises(RelayRefused, match="does not know the token"):
                        await answered(stream, received, "secret", PIN)
                else:
                    await answered(stream, received, "secret", PIN)

            nursery.start_soon(port, theirs, attempt == "again")
            if attempt == "first":
                heard = _Heard(ours)
                await greeted(heard, "secret", PIN)
                said = heard.said
            else:
                await ours.send_all(said[0])
                await ours.receive_some()
                await ours.send_all(said[1])


async def test_a_server_that_does_not_know_the_token_is_not_taken_for_ours() -> None:
    ours, theirs = memory_stream_pair()
    async with trio.open_nursery() as nursery:

        async def false_port() -> None:
            await theirs.receive_some()
            await theirs.send_all(b"#trio_debugmcp relay#\n" + b"1" * 48 + b"\n")
            await theirs.receive_some()
            await theirs.send_all(b"0" * 64 + b"\n")

        nursery.start_soon(false_port)
        with pytest.raises(RelayRefused, match="another server stands in its place"):
            await greeted(ours, "secret", PIN)


async def test_another_kind_of_server_is_recognized() -> None:
    for answer in (b"HTTP/1.1 400 Bad Request\r\n\r\n", b"x" * 100_000):
        ours, theirs = memory_stream_pair()
        await theirs.send_all(answer)
        await theirs.aclose()
        with pytest.raises((RelayRefused, trio.BrokenResourceError)):
            await greeted(ours, "secret", PIN)


class _Heard(trio.abc.Stream):
    """A stream whose own words are kept."""

    def __init__(self, stream: trio.abc.Stream) -> None:
        self.said: list[bytes] = []
        self._stream = stream

    async def send_all(self, data: bytes | bytearray | memoryview) -> None:
        self.said.append(bytes(data))
        await self._stream.send_all(data)

    async def wait_send_all_might_not_block(self) -> None:
        await self._stream.wait_send_all_might_not_block()

    async def receive_some(self, max_bytes: int | None = None) -> bytes | bytearray:
        return await self._stream.receive_some(max_bytes)

    async def aclose(self) -> None:
        await self._stream.aclose()
