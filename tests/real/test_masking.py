"""Secrets of a real program: in its environment, variables, output and source, and nowhere in what is sent."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.masking.samples import GITHUB, HEX, pem, word
from tests.real.conftest import Connect
from trio_debugmcp.testing import ToolFailed

RANDOM = word(32, HEX)

PROGRAM = f"""\
import os, sys

class Client:
    def __init__(self, api_key):
        self.api_key = api_key

def visit(client, token):
    os.write(1, b"using " + token[:15].encode())
    os.write(1, token[15:].encode() + b"\\n")
    print("Authorization: Bearer", client.api_key, flush=True)
    return token == os.environ["SHOP_TOKEN"]

hardcoded = "{word(0)}{GITHUB}"
private = '''{pem()}'''
print(visit(Client(os.environ["SHOP_KEY"]), os.environ["SHOP_TOKEN"]))
raise ValueError("refused: " + hardcoded)
"""


async def test_no_secret_of_a_real_program_is_sent_and_the_program_has_them_all(
    debugging: Connect, tmp_path: Path
) -> None:
    program = tmp_path / "shop.py"
    program.write_text(PROGRAM)
    said: list[str] = []
    async with debugging() as client:

        async def call(tool: str, **arguments: Any) -> dict[str, Any]:
            answer = await client.call(tool, **arguments)
            said.append(json.dumps(answer))
            return answer

        await call("breakpoint_set", file=str(program), line=10, log_message="with {token} and {client.api_key}")
        await call("breakpoint_set", file=str(program), line=11)
        environment = {"SHOP_TOKEN": GITHUB, "SHOP_KEY": RANDOM}
        await call("debug_launch", program=str(program), env=environment, stop_at_entry=False)
        await call("variables_get", depth=2)
        await call("stacktrace_get")
        assert (await call("evaluate", expression="token == os.environ['SHOP_TOKEN']"))["value"] == "True"
        assert (await call("evaluate", expression="f'<{token}>'"))["value"] == "'<<GitHub token, 40 characters>>'"
        assert (await call("evaluate", expression="client.api_key"))["value"] == "'<secret, 32 characters>'"
        await call("evaluate", expression="dict(os.environ)")
        await call("source_get", file=str(program))
        with pytest.raises(ToolFailed) as refused:
            await call("evaluate", expression="1 / 0 if client.api_key else token, [][token]")
        said.append(f"{refused.value.message} {refused.value.details}")
        resources = ("stack", "output", "timeline", "breakpoints", f"source/{program}")
        said += [await client.read_text(f"debugger://{name}") for name in resources]
        await call("debug_continue")
        await call("process_read_output")
        await call("debug_disconnect")
    everything = "\n".join(said)
    assert GITHUB[:12] not in everything
    assert GITHUB[15:] not in everything
    assert RANDOM not in everything
    assert not any(line in everything for line in pem_body())
    assert "using <GitHub token, 40 characters>" in everything
    assert "Authorization: Bearer <credentials, 32 characters>" in everything


def pem_body() -> list[str]:
    return [line for line in PROGRAM.splitlines() if len(line) == 64 and " " not in line]
