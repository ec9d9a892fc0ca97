import pytest

from trio_debugmcp.server.missing_resources import resource_not_found


@pytest.mark.parametrize(("version", "code"), [("2025-11-25", -32002), ("2026-07-28", -32602)])
def test_resource_not_found_has_the_code_of_the_protocol_era(version: str, code: int) -> None:
    error = resource_not_found("debugger://x", "It is not there.", version).error
    assert (error.code, error.message, error.data) == (code, "It is not there.", {"uri": "debugger://x"})
