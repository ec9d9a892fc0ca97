"""What a server asks of the person at the terminal, and what it gets when there is none."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import trio
from trio.testing import MockClock

from tests.client.peer import Json, Peer, text
from trio_debugmcp.cli._notices import Notices, open_notices, progress_line
from trio_debugmcp.cli._person import Person
from trio_debugmcp.client import InspectorClient, InspectorOptions

FORM = {
    "type": "object",
    "properties": {"name": {"type": "string", "minLength": 2}, "age": {"type": "integer"}},
    "required": ["name"],
}


class Script:
    """A terminal with the answers of a person; without more of them the input has ended."""

    def __init__(self, *answers: str) -> None:
        self.answers = list(answers)
        self.shown: list[str] = []
        self.asked: list[str] = []
        self.lock = trio.Lock()

    def write(self, text: str) -> None:
        self.shown.append(text)

    @asynccontextmanager
    async def turn(self) -> AsyncGenerator[None, None]:
        async with self.lock:
            yield

    async def read_command(self) -> str:
        raise EOFError

    async def ask(self, question: str) -> str:
        self.asked.append(question)
        await trio.sleep(1)
        if not self.answers:
            raise EOFError
        return self.answers.pop(0)


async def answered(terminal: Script | None, *requests: Json, roots: tuple[str, ...] = ()) -> tuple[Any, list[str]]:
    """What the server gets for its requests, and the notices."""
    notices: list[str] = []
    peer = Peer()
    options = InspectorOptions(**Person(terminal, notices.append).options(roots))
    async with InspectorClient(peer, options):
        for number, request in enumerate(requests):
            peer.send({"id": number, **request})
        await trio.sleep(100)
    return [{response["id"]: response for response in peer.responses}[n] for n in range(len(requests))], notices


def elicit(message: str = "who?", **params: Any) -> Json:
    return {"method": "elicitation/create", "params": {"message": message, **(params or {"requestedSchema": FORM})}}


SAMPLE: Json = {
    "method": "sampling/createMessage",
    "params": {
        "maxTokens": 9,
        "systemPrompt": "be brief",
        "messages": [{"role": "user", "content": {"type": "text", "text": "why?\x1b[2J"}}],
    },
}


async def test_a_form_is_filled_in_field_by_field_until_each_is_right(autojump_clock: MockClock) -> None:
    terminal = Script("maybe", "y", "x", "Ada", "old", "36")
    (answer,), _ = await answered(terminal, elicit())
    assert answer["result"] == {"action": "accept", "content": {"name": "Ada", "age": 36}}
    assert [shown.strip() for shown in terminal.shown] == [
        "The server asks: who?",
        "'x' is too short",
        "'old' is not a whole number",
    ]


@pytest.mark.parametrize(("answers", "action"), [(["n"], "decline"), ([], "cancel"), (["y", "Ada"], "cancel")])
async def test_a_form_can_be_declined_or_cancelled(answers: list[str], action: str, autojump_clock: MockClock) -> None:
    (answer,), _ = await answered(Script(*answers), elicit())
    assert answer["result"] == {"action": action}


async def test_two_questions_do_not_mix(autojump_clock: MockClock) -> None:
    terminal = Script("y", "Ada", "", "y", "Bob", "")
    answers, _ = await answered(terminal, elicit("one"), elicit("two"))
    assert [answer["result"]["content"] for answer in answers] == [{"name": "Ada"}, {"name": "Bob"}]


async def test_a_page_is_opened_only_if_it_is_on_the_web_and_the_person_agrees(
    autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    page: Json = {"mode": "url", "elicitationId": "1"}
    terminal = Script("n", "y")
    answers, _ = await answered(
        terminal,
        elicit("pay", **page, url="file:///etc/passwd"),
        elicit("pay", **page, url="https://example.com/no"),
        elicit("pay", **page, url="https://example.com/yes"),
    )
    assert [answer["result"]["action"] for answer in answers] == ["decline", "decline", "accept"]
    assert "https://example.com/yes" in capsys.readouterr().err
    assert any("not a page on the web" in shown for shown in terminal.shown)


async def test_a_person_answers_for_the_model_or_refuses(autojump_clock: MockClock) -> None:
    terminal = Script("y", "because", "n")
    answers, _ = await answered(terminal, SAMPLE, SAMPLE, SAMPLE)
    assert answers[0]["result"]["content"] == {"type": "text", "text": "because"}
    assert answers[0]["result"]["model"] == "human"
    assert [answer["error"]["code"] for answer in answers[1:]] == [-1, -1]
    assert "  user: why?\\x1b[2J" in terminal.shown, "a server cannot write to the terminal as it likes"


async def test_the_current_directory_is_named_only_if_the_person_agrees(autojump_clock: MockClock) -> None:
    request = {"method": "roots/list"}
    answers, _ = await answered(Script("y", "n"), request, request, request)
    named = [[root["uri"] for root in answer["result"]["roots"]] for answer in answers]
    assert named == [[Path.cwd().as_uri()], [], []]
    (answer,), _ = await answered(None, request, roots=("/src", "."))
    assert [root["name"] for root in answer["result"]["roots"]] == ["src", Path.cwd().name]


async def test_without_a_terminal_everything_is_declined_and_the_reason_shown(autojump_clock: MockClock) -> None:
    answers, notices = await answered(None, elicit(), SAMPLE, {"method": "roots/list"})
    assert answers[0]["result"] == {"action": "decline"}
    assert answers[1]["error"]["message"] == "declined sampling: there is no terminal to ask a person"
    assert answers[2]["result"] == {"roots": []}
    assert sorted(notices) == [
        "declined elicitation: there is no terminal to ask a person (who?)",
        "declined roots: there is no terminal to ask a person; pass --root DIR",
        "declined sampling: there is no terminal to ask a person",
    ]


# --- Notices ----------------------------------------------------------------------------------------------------------


async def test_progress_and_log_messages_are_shown_and_nothing_of_them_is_lost_at_the_end(
    autojump_clock: MockClock, capsys: pytest.CaptureFixture[str]
) -> None:
    peer, notices = Peer(), Notices(enabled=True)

    def work(params: Json) -> Json:
        token = params["_meta"]["progressToken"]
        peer.notify("notifications/message", level="warning", logger="db", data={"slow": 1})
        peer.notify("notifications/message", level="info", data="\x1b]0;title\x07")
        for step in (1, 2):
            peer.notify("notifications/progress", progressToken=token, progress=step, total=2, message="half")
        return text("done")

    peer.handlers["tools/call"] = work
    client = InspectorClient(peer, InspectorOptions(on_log=notices.on_log))
    async with open_notices(client, notices), client:
        await client.call_tool("build")
    lines = capsys.readouterr().err.splitlines()
    assert sorted(lines) == [
        "[info] \\x1b]0;title\\x07",
        '[warning db] {"slow":1}',
        "build [########################] 2/2 half",
        "build [############............] 1/2 half",
    ]


async def test_notices_that_wait_at_the_end_are_shown(
    autojump_clock: MockClock, capsys: pytest.CaptureFixture[str]
) -> None:
    peer, notices = Peer(), Notices(enabled=True)

    def work(params: Json) -> Json:
        for step in range(200):
            token = params["_meta"]["progressToken"]
            peer.notify("notifications/progress", progressToken=token, progress=step)
        return text("done")

    peer.handlers["tools/call"] = work
    async with InspectorClient(peer) as client, open_notices(client, notices):
        await client.call_tool("build")
    assert len(capsys.readouterr().err.splitlines()) == 200


async def test_hidden_notices_write_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    notices = Notices(enabled=False)
    notices.write("x")
    notices.clear()
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("progress", "total", "line"),
    [
        (5, None, "t 5 m"),
        (0.5, 1, "t [############............] 0.5/1 m"),
        (7, 2, "t [########################] 7/2 m"),
        (1, 0, "t 1 m"),
    ],
)
def test_a_line_of_progress(progress: float, total: float | None, line: str) -> None:
    assert progress_line("t", progress, total, "m") == line
