"""`scripts/bundle`: the package as an MCP bundle, a zip file with a manifest that a host installs with a click.

The bundle has the source and no dependency: the host's uv installs these when it starts the server first. The same
source makes the same bytes, so that the printed digest, which registries ask for, can be compared.

    python scripts/_bundle.py [DIR]
"""

import json
import sys
import tomllib
import zipfile
from hashlib import sha256
from pathlib import Path
from typing import Any

from trio_debugmcp import __version__
from trio_debugmcp.server.prompts import PROMPTS
from trio_debugmcp.server.tools import open_toolbox

ROOT = Path(__file__).resolve().parent.parent

LONG_AGO = (1980, 1, 1, 0, 0, 0)
"""The time of every file in the bundle: the first that a zip file can have."""


def manifest() -> dict[str, Any]:
    """Describe the server for hosts, as the manifest's version 0.4 has it, the first that knows uv."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return {
        "manifest_version": "0.4",
        "name": project["name"],
        "display_name": "Debugger (trio_debugmcp)",
        "version": __version__,
        "description": project["description"],
        "author": {"name": project["authors"][0]["name"], "url": project["urls"]["Repository"]},
        "repository": {"type": "git", "url": project["urls"]["Repository"]},
        "documentation": project["urls"]["Documentation"],
        "support": project["urls"]["Issues"],
        "license": project["license"],
        "keywords": project["keywords"],
        "server": {
            "type": "uv",
            "entry_point": "trio_debugmcp/__main__.py",
            # Not `--directory`, which would change the working directory, against which programs are looked up.
            "mcp_config": {"command": "uv", "args": ["run", "--no-dev", "--project", "${__dirname}", project["name"]]},
        },
        "tools": [{"name": tool.name, "description": _sentence(tool.description)} for tool in open_toolbox().listed()],
        "prompts_generated": bool(PROMPTS),
        "compatibility": {"platforms": ["darwin", "linux"], "runtimes": {"python": project["requires-python"]}},
    }


def _sentence(text: str | None) -> str:
    return f"{(text or '').partition('. ')[0].rstrip('.')}."


def files() -> list[Path]:
    """Return what the bundle has beside the manifest: what is needed to build the package, and its licence."""
    package = ROOT / "trio_debugmcp"
    source = [file for file in package.rglob("*") if file.is_file() and "__pycache__" not in file.parts]
    return sorted([*source, *(ROOT / name for name in ("pyproject.toml", "README.md", "LICENSE"))])


def build(directory: Path) -> Path:
    """Write the bundle, and return its path."""
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / f"trio-debugmcp-{__version__}.mcpb"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as bundle:
        _add(bundle, "manifest.json", json.dumps(manifest(), indent=2).encode())
        for file in files():
            _add(bundle, file.relative_to(ROOT).as_posix(), file.read_bytes())
    return path


def _add(bundle: zipfile.ZipFile, name: str, content: bytes) -> None:
    entry = zipfile.ZipInfo(name, LONG_AGO)
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.external_attr = 0o644 << 16
    bundle.writestr(entry, content)


def main() -> int:
    if len(sys.argv) > 2:
        print("scripts/bundle takes one argument, a directory", file=sys.stderr)
        return 2
    path = build(Path(sys.argv[1]) if sys.argv[1:] else ROOT / "dist")
    content = path.read_bytes()
    print(f"{path}  {len(content)} bytes  sha256 {sha256(content).hexdigest()}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
