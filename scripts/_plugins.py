"""`scripts/plugins`: the plugins for hosts, made of the package's skill and sub-agent. `--check` changes nothing.

All hosts take the folder `plugin/`; what makes the repository a marketplace of it stands where each host looks.

    python scripts/_plugins.py [--check]
"""

import json
import re
import sys
import tomllib
from pathlib import Path
from typing import Any

from trio_debugmcp import __version__
from trio_debugmcp.skill import read_agent, read_skill

ROOT = Path(__file__).resolve().parent.parent

NAME = "trio-debugmcp"

FOLDERS = ("plugin", ".claude-plugin", ".cursor-plugin", ".agents/plugins")

SERVER = {"command": "trio-debugmcp", "args": ["serve"]}

SERVERS = {"mcpServers": {"debugger": SERVER}}

LONG = "Root causes from a real debugger: stops, values, hangs, exceptions, and why a value is what it is."


def project() -> dict[str, Any]:
    """Return what pyproject.toml says of the project."""
    described: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    return described


def manifest() -> dict[str, Any]:
    """Return what every host gets."""
    about = project()
    return {
        "name": NAME,
        "version": __version__,
        "description": LONG,
        "author": {"name": about["authors"][0]["name"], "url": about["urls"]["Repository"]},
        "homepage": about["urls"]["Repository"],
        "repository": about["urls"]["Repository"],
        "license": about["license"],
        "keywords": about["keywords"],
    }


def plugin_agent() -> str:
    """Return the sub-agent as a plugin has it: the plugin brings the server, whose tools have another prefix there."""
    text = re.sub(r"^mcpServers: .*\n", "", read_agent().decode(), flags=re.MULTILINE)
    return text.replace("mcp__debugger__", f"mcp__plugin_{NAME}_debugger__").replace(
        f"skills: {NAME}", f"skills: {NAME}:{NAME}"
    )


def files() -> dict[str, str]:
    """Return every file of the plugins, by its path in the repository."""
    texts = {f"plugin/skills/{NAME}/{path}": text.decode() for path, text in read_skill().files.items()}
    texts["plugin/agents/debugger.md"] = plugin_agent()
    described = {**_claude(), **_codex(), **_cursor(), **_gemini(), "plugin/.mcp.json": SERVERS}
    return texts | {path: json.dumps(value, indent=2, ensure_ascii=False) + "\n" for path, value in described.items()}


def _owner() -> dict[str, str]:
    return {"name": manifest()["author"]["name"]}


ENTRY = {"name": NAME, "source": "./plugin", "description": LONG}


def _claude() -> dict[str, Any]:
    hook = {"type": "command", "command": "trio-debugmcp call --stop", "timeout": 10}
    monitor = {
        "name": "stops",
        "command": "trio-debugmcp call --stops",
        "description": "Stops of programs that `trio-debugmcp call` debugs in this project",
    }
    entry = {**ENTRY, "category": "development", "license": manifest()["license"]}
    market = {"name": NAME, "owner": _owner(), "description": LONG, "plugins": [entry]}
    return {
        ".claude-plugin/marketplace.json": market,
        "plugin/.claude-plugin/plugin.json": {**manifest(), "experimental": {"monitors": "./monitors/monitors.json"}},
        "plugin/hooks/hooks.json": {"hooks": {"UserPromptSubmit": [{"hooks": [hook]}]}},
        "plugin/monitors/monitors.json": [monitor],
    }


def _codex() -> dict[str, Any]:
    interface = {
        "displayName": "Debugger",
        "shortDescription": "A real debugger for your programs",
        "longDescription": LONG,
        "developerName": _owner()["name"],
        "category": "Developer Tools",
        "websiteURL": manifest()["homepage"],
    }
    entry = {
        "name": NAME,
        "source": {"source": "local", "path": "./plugin"},
        "policy": {"installation": "AVAILABLE", "authentication": "ON_INSTALL"},
        "category": "Developer Tools",
    }
    parts = {"skills": "./skills/", "mcpServers": "./.mcp.json", "interface": interface}
    market = {"name": NAME, "interface": {"displayName": "trio_debugmcp"}, "plugins": [entry]}
    return {".agents/plugins/marketplace.json": market, "plugin/.codex-plugin/plugin.json": {**manifest(), **parts}}


def _cursor() -> dict[str, Any]:
    parts = {"displayName": "Debugger", "skills": "./skills/", "agents": "./agents/", "mcpServers": "./.mcp.json"}
    market = {"name": NAME, "owner": _owner(), "plugins": [ENTRY]}
    return {".cursor-plugin/marketplace.json": market, "plugin/.cursor-plugin/plugin.json": {**manifest(), **parts}}


def _gemini() -> dict[str, Any]:
    """Return the extension twice: the host installs a repository by the file at its top, and has no skills there."""
    extension = {"name": NAME, "version": __version__, "description": LONG, **SERVERS}
    context = {"contextFileName": f"plugin/skills/{NAME}/SKILL.md"}
    return {"gemini-extension.json": {**extension, **context}, "plugin/gemini-extension.json": extension}


def differing() -> list[str]:
    """Return the paths of files that are not as they should be, or that should not be there."""
    wanted = files()
    there = {str(file.relative_to(ROOT)) for name in FOLDERS for file in (ROOT / name).rglob("*") if file.is_file()}
    return sorted(
        (there - wanted.keys())
        | {path for path, text in wanted.items() if not (ROOT / path).is_file() or (ROOT / path).read_text() != text}
    )


def main() -> None:
    """Write the files, or say which differ."""
    paths = differing()
    if "--check" in sys.argv:
        sys.exit("\n".join(["run scripts/plugins; these differ:", *paths]) if paths else 0)
    wanted = files()
    for path in paths:
        file = ROOT / path
        if path not in wanted:
            file.unlink()
            continue
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(wanted[path], "utf-8")
        print(path)


if __name__ == "__main__":
    main()
