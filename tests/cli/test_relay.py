"""`trio-debugmcp relay`: what it is to be called with."""

from pathlib import Path

import pytest

from trio_debugmcp.cli import main


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--to", "nowhere"], "HOST:PORT"),
        (["--to", "a:1", "--pin", "12"], "64 hexadecimal digits"),
        (["--to", "a:1", "--pid", "1"], "--token-file FILE is missing"),
        (["--to", "a:1", "--pid", "1", "--token-file", "/nowhere/file"], "cannot read /nowhere/file"),
        (["--to", "a:1", "--token-file", "TOKEN"], "pass --pid, --process or --children-of"),
        (["--to", "a:1", "--token-file", "TOKEN", "--process", "nowhere/to"], "none is called 'nowhere/to'"),
        (["--to", "a:1", "--token-file", "TOKEN", "--children-of", "99999999"], "99999999 has started no Python"),
    ],
)
def test_wrong_usage_is_refused_with_what_to_pass(
    words: list[str], why: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TRIO_DEBUGMCP_RELAY_TOKEN", raising=False)
    token = tmp_path / "token"
    token.write_text("secret")
    token.chmod(0o600)
    code: object
    try:
        code = main(["relay", *(str(token) if word == "TOKEN" else word for word in words)])
    except SystemExit as ended:
        code = ended.code
    assert code == 2
    assert why in capsys.readouterr().err
