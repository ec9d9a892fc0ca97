"""The plugins in the repository are those that `scripts/plugins` makes of the package."""

import importlib.util
import json
from pathlib import Path

from trio_debugmcp.skill import read_agent, read_skill

_SPEC = importlib.util.spec_from_file_location("plugins", Path(__file__).parents[2] / "scripts" / "_plugins.py")
assert _SPEC is not None
assert _SPEC.loader is not None
plugins = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(plugins)
FILES: dict[str, str] = plugins.files()


def test_the_plugins_are_those_of_this_package() -> None:
    assert plugins.differing() == [], "run scripts/plugins"


def test_all_hosts_get_one_version_and_one_server() -> None:
    manifests = [json.loads(text) for path, text in FILES.items() if path.endswith(("plugin.json", "extension.json"))]
    assert len(manifests) == 5
    assert len({manifest["version"] for manifest in manifests}) == 1
    own = '"command": "trio-debugmcp",'
    servers = [json.loads(text)["mcpServers"] for text in FILES.values() if text.startswith("{") and own in text]
    assert servers
    assert all(each == servers[0] for each in servers)


def test_the_agent_of_the_plugin_has_the_tools_of_the_packages_agent_under_the_plugins_name() -> None:
    ours, theirs = read_agent().decode(), FILES["plugin/agents/debugger.md"]
    assert ours.count("mcp__debugger__") == theirs.count("mcp__plugin_trio-debugmcp_debugger__") > 10
    assert "mcp__debugger__" not in theirs
    assert f"skills: trio-debugmcp:{read_skill().name}" in theirs
