"""The extension for Visual Studio Code: what is packed, and where it connects. `scripts/editor` tries it."""

import io
import json
import shutil
import subprocess
import zipfile
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from tests.javascript import HERE
from trio_debugmcp import __version__, editors
from trio_debugmcp.cli import main
from trio_debugmcp.editors.extension_package import packed

EXTENSION = Path(editors.__file__).parent / "vscode" / "extension.js"


def extension(configurations: list[dict[str, Any]], inputs: list[str]) -> dict[str, Any]:
    """Run the extension in node; return what it made of these."""
    node = shutil.which("node")
    assert node is not None, "install Node.js"
    given = json.dumps({"configurations": configurations, "inputs": inputs})
    done = subprocess.run(
        [node, str(HERE / "extension.cjs"), str(EXTENSION)],
        input=given, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.stderr == ""
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def test_it_has_the_two_files_a_manifest_and_the_version_of_the_package() -> None:
    with zipfile.ZipFile(io.BytesIO(packed())) as archive:
        assert archive.testzip() is None
        described = json.loads(archive.read("extension/package.json"))
        assert described["version"] == __version__
        assert f"extension/{described['main'].removeprefix('./')}" in archive.namelist()
        manifest = ElementTree.fromstring(archive.read("extension.vsixmanifest"))
        types = ElementTree.fromstring(archive.read("[Content_Types].xml"))
    namespace = "{http://schemas.microsoft.com/developer/vsx-schema/2011}"
    identity = manifest.find(f"{namespace}Metadata/{namespace}Identity")
    assert identity is not None
    assert (identity.get("Id"), identity.get("Version")) == ("trio-debugmcp", __version__)
    known = {each.get("Extension") for each in types}
    assert {Path(each).suffix for each in archive.namelist() if each != "[Content_Types].xml"} <= known


def test_the_same_version_is_the_same_file() -> None:
    assert packed() == packed()


def test_the_command_writes_it_and_says_how_it_is_installed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "ours.vsix"
    assert main(["vsix", str(file)]) == 0
    assert capsys.readouterr().out == f"wrote {file}; install it with: code --install-extension {file}\n"
    assert file.read_bytes() == packed()


def test_a_place_that_cannot_be_written_is_a_failure_with_its_reason(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["vsix", str(tmp_path / "none" / "ours.vsix")]) == 1
    assert "No such file or directory" in capsys.readouterr().err


@pytest.mark.real
def test_a_configuration_with_a_port_is_taken_as_it_is() -> None:
    whole = {"type": "trio-debugmcp", "request": "attach", "name": "n", "port": 4711, "token": "t"}
    (done,) = extension([whole], [])["resolved"]
    assert done == {"configuration": whole, "address": {"port": 4711, "host": "127.0.0.1"}}


@pytest.mark.real
def test_without_one_the_person_is_asked_for_address_and_token() -> None:
    (done,) = extension([{}], ["[::1]:4711", "secret"])["resolved"]
    assert done["configuration"] == {
        "type": "trio-debugmcp", "request": "attach", "name": "Join the agent",
        "host": "::1", "port": 4711, "token": "secret",
    }  # fmt: skip
    assert done["address"] == {"port": 4711, "host": "::1"}


@pytest.mark.real
def test_the_command_joins_at_once_or_waits_and_refuses_other_texts() -> None:
    done = extension([], ["4711", "secret", "127.0.0.1:", "host:70000"])
    (started,) = done["started"]
    assert (started["host"], started["port"], started["token"]) == ("127.0.0.1", 4711, "secret")
    assert started["wait"] is True
    assert done["refused"] == ["127.0.0.1:", "host:70000"]


@pytest.mark.real
def test_the_agents_of_the_editor_get_the_server_in_the_folder_that_is_open() -> None:
    described = json.loads((EXTENSION.parent / "package.json").read_text())
    (provider,) = described["contributes"]["mcpServerDefinitionProviders"]
    assert extension([], [])["servers"] == {
        "id": provider["id"],
        "list": [{"label": "debugger", "command": "trio-debugmcp", "args": ["serve"], "cwd": "/project"}],
    }
