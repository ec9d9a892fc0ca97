"""Twenty secrets of one program, each in a place of its own, and every way by which something leaves the server.

The ways: answers of tools in both eras' form, resources, what the page reads, an editor's requests and events, standard
error with the log at debug level, and a recording. What is not masked at all is in docs/security.md.
"""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
import trio

from tests.editors.bench import EditorClient
from tests.masking.samples import HEX, JWT, LETTERS, pem, word
from tests.pythons import found
from tests.transports.conftest import StartServer, serving
from tests.transports.scene import CONTROL, OBSERVE
from trio_debugmcp.testing import DebugClient, ToolFailed, connect_process, connect_websocket

__all__ = ["serving"]

KEY = pem()
SECRETS = {
    "argument": word(40),
    "environment": word(24),
    "attribute": word(32, HEX),
    "header": word(24),
    "bearer": word(26),
    "authorization": word(30),
    "github": "ghp_" + word(36),
    "key of a dict": "npm_" + word(36),
    "another key of a dict": "AIza" + word(35),
    "exception": "glpat-" + word(20),
    "thread": "sk_live_" + word(24),
    "output": "hf_" + word(34),
    "log point": "AKIA" + word(16, LETTERS[:26]),
    "url": word(20),
    "jwt": JWT,
    "signed": word(28),
    "cut": "ghp_" + word(36),
    "literal": "xoxb-123456789012-123456789012-" + word(24),
    "summarized": word(48),
    "private key": KEY.splitlines()[3],
}
assert len(SECRETS) == 20

READ = SECRETS.keys() - {"argument", "environment", "literal"}
"""Those of a file that the program reads; where it is shown whole, their names there are no secrets' names."""

PROGRAM = f"""\
import json, os, sys, threading

SECRETS = json.load(open("secrets.json"))
hardcoded = "{SECRETS["literal"]}"


class Client:
    def __init__(self, api_key):
        self.api_key = api_key


def work(box):
    client = Client(box.pop("attribute"))
    headers = {{"X-Api-Key": box.pop("header"), "Authorization": "Bearer " + box.pop("authorization")}}
    bearer = box.pop("bearer")
    github = box.pop("github")
    by_key = {{box.pop("key of a dict"): 1, box.pop("another key of a dict"): 2}}
    url = "postgres://ada:" + box.pop("url") + "@db.example.com/shop"
    session = box.pop("jwt")
    signing = {{"signing_key": box.pop("signed")}}
    long = "x" * 165 + " " + box.pop("cut") + " the end"
    service_token = box.pop("summarized")
    pem = box.pop("private key")
    print("token:", box.pop("output"), flush=True)
    logged = box.pop("log point")
    del box
    done = 1  # stop
    return done


worker = threading.Thread(target=work, args=(SECRETS,), name="worker " + SECRETS.pop("thread"))
failure = SECRETS.pop("exception")
worker.start()
worker.join()
raise ValueError("refused: " + failure)  # end
"""


def line_of(mark: str) -> int:
    return next(number for number, line in enumerate(PROGRAM.splitlines(), 1) if line.endswith(mark))


def leaks(text: str) -> list[str]:
    """The names of the secrets of which a text has a third, or more than the first characters of a cut one."""
    return [name for name, secret in SECRETS.items() if secret in text or secret[len(secret) // 3 :] in text]


class KeepingEditor(EditorClient):
    """An editor's side of a connection that keeps all it receives."""

    received = ""

    def bodies_in(self, data: bytes) -> list[bytes]:
        bodies = super().bodies_in(data)
        self.received += "".join(body.decode() + "\n" for body in bodies)
        return bodies


async def everything_of(client: DebugClient) -> str:
    """What a client can read."""
    said = []
    for uri in [*await client.uris(), "debugger://source/secrets.json"]:
        try:
            said.append(await client.read_text(uri))
        except Exception as error:  # noqa: BLE001 (what is refused may repeat what it is about)
            said.append(str(error))
    return "\n".join(said)


async def asked_by_an_agent(client: DebugClient) -> str:
    """Every answer to questions about the stop at hand."""
    said = []
    for tool, arguments in (
        ("debug_state", {}),
        ("variables_get", {"depth": 3, "max_value_length": 4000}),
        ("variables_get", {"full": True}),
        ("stacktrace_get", {"locals": True}),
        ("threads_list", {}),
        ("evaluate", {"expression": "headers"}),
        ("evaluate", {"expression": "sys.argv"}),
        ("evaluate", {"expression": "dict(os.environ)"}),
        ("evaluate", {"expression": "[][by_key]"}),
        ("evaluate", {"expression": "long"}),
        ("object_inspect", {"expression": "client"}),
        ("object_inspect", {"expression": "by_key"}),
        ("collection_summarize", {"expression": "service_token"}),
        ("collection_summarize", {"expression": "os.environ['SERVICE_TOKEN']"}),
        ("source_get", {"file": "program.py"}),
        ("snapshot_create", {"label": "here"}),
        ("process_read_output", {}),
        ("timeline_query", {}),
        ("debug_launch", {"program": "program.py", "args": ["--api-token", SECRETS["argument"]]}),
    ):
        try:
            said.append(json.dumps(await client.call(tool, **arguments)))
        except ToolFailed as failed:
            said.append(f"{failed.message} {failed.details}")
    return "\n".join(said)


async def asked_by_an_editor(editor: EditorClient, thread: int) -> None:
    """Everything that an editor shows at a stop, two levels deep."""
    await editor.ask("threads")
    for frame in (await editor.ask("stackTrace", threadId=thread))["stackFrames"][:2]:
        for scope in (await editor.ask("scopes", frameId=frame["id"]))["scopes"]:
            shown = (await editor.ask("variables", variablesReference=scope["variablesReference"]))["variables"]
            for variable in [variable for variable in shown if variable["variablesReference"]][:20]:
                await editor.ask("variables", variablesReference=variable["variablesReference"])
        await editor.ask("evaluate", expression="headers", frameId=frame["id"], context="hover")


@pytest.mark.parametrize("version", [(3, 11), (3, 13)], ids=["pydevd", "engine"])
@pytest.mark.parametrize("kept", [False, True], ids=["", "record-secrets"])
async def test_twenty_planted_secrets_are_found_nowhere(
    serving: StartServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: tuple[int, int], kept: bool
) -> None:
    [python] = [interpreter.path for interpreter in found() if interpreter.version == version] or [sys.executable]
    (tmp_path / "program.py").write_text(PROGRAM)
    (tmp_path / "secrets.json").write_text(json.dumps({name: SECRETS[name] for name in READ} | {"private key": KEY}))
    monkeypatch.chdir(tmp_path)
    recording = tmp_path / "recording.jsonl"
    options = ["--dap", "0", "--ws", "0", "--log-level", "debug", "--record", str(recording)]
    options += ["--record-secrets"] if kept else []
    launch: dict[str, Any] = {
        "program": str(tmp_path / "program.py"),
        "cwd": str(tmp_path),
        "args": ["--api-token", SECRETS["argument"]],
        "env": {"SERVICE_TOKEN": SECRETS["environment"]},
        "adapter_options": {"python": [python]},
        "stop_on_uncaught": True,
        "breakpoints": [
            {"file": str(tmp_path / "program.py"), "line": line_of("# stop") - 1, "log_message": "at {logged}"},
            {"file": str(tmp_path / "program.py"), "line": line_of("# stop")},
        ],
    }
    said: dict[str, str] = {}
    async with (
        serving(*options) as server,
        connect_process(server.process) as agent,
        connect_websocket(await server.websocket_url(), OBSERVE, "modern") as page,
        await trio.open_tcp_stream("127.0.0.1", int(await server.said(r"dap: [\d.]+:(\d+)"))) as stream,
        trio.open_nursery() as nursery,
    ):
        editor = KeepingEditor(stream)
        nursery.start_soon(editor.receive)
        stop = await agent.call("debug_launch", **launch)
        assert stop["reason"] == "Breakpoint", stop
        said["launch"] = json.dumps(stop)
        await editor.join(CONTROL)
        thread = (await editor.wait_event("stopped"))["threadId"]
        await asked_by_an_editor(editor, thread)
        said["answers"] = await asked_by_an_agent(agent)
        said["page"] = await everything_of(page)
        said["resources"] = await everything_of(agent)
        said["exception"] = json.dumps(await agent.call("debug_continue"))
        assert "ValueError" in said["exception"]
        said["exception"] += json.dumps(await agent.call("exception_get_context"))
        said["page at the exception"] = await everything_of(page)
        said["end"] = json.dumps(await agent.call("debug_continue"))
        said["disconnected"] = json.dumps(await agent.call("debug_state"))
        said["editor"] = editor.received
        nursery.cancel_scope.cancel()
    said["standard error"] = server.stderr
    said["recording"] = recording.read_text()
    found_in = {way: leaks(text) for way, text in said.items() if leaks(text)}
    if kept:
        recorded = found_in.pop("recording")
        assert {"github", "jwt", "attribute", "private key"} <= set(recorded)
        assert "environment" not in recorded, "which the recorder takes out in any case"
    assert not found_in
    assert "<GitHub token, 40 characters>" in said["answers"]
