import pytest
from msgspec.structs import replace

from trio_debugmcp.server.missing_resources import ended_sentence, resource_not_found, without_session
from trio_debugmcp.state.model import Origin, Snapshot


@pytest.mark.parametrize(("version", "code"), [("2025-11-25", -32002), ("2026-07-28", -32602)])
def test_resource_not_found_has_the_code_of_the_protocol_era(version: str, code: int) -> None:
    error = resource_not_found("debugger://x", "It is not there.", version).error
    assert (error.code, error.message, error.data) == (code, "It is not there.", {"uri": "debugger://x"})


@pytest.mark.parametrize(
    ("exit_code", "reason", "sentence"),
    [
        (1, "the program has ended", "s-1 has ended: exit code 1."),
        (-9, "the program has ended", "s-1 has ended: SIGKILL."),
        (None, "disconnected", "s-1 has ended: disconnected."),
        (None, None, "s-1 has ended."),
    ],
)
def test_the_end_of_a_session_is_shown_by_what_is_known_of_it(
    exit_code: int | None, reason: str | None, sentence: str
) -> None:
    ended = Snapshot("s-1", Origin(adapter="a", language="b", launch_mode="Launch", attached_at=0.0))
    ended = replace(ended, exit_code=exit_code, end_reason=reason)
    assert ended_sentence(ended) == sentence
    assert without_session("None", ended) == f"None. {sentence} debug_state has its last state."
    assert without_session("None", None) == "None"
