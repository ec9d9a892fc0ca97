"""What the server declares of itself, as plain data: imported before the SDK is, and by all that declares it.

`early_answers.py` answers with it while the SDK is imported, `declarations.py` has the SDK answer with it afterwards.
"""

from typing import Any

from trio_debugmcp import __version__

NAME = "trio-debugmcp"

TITLE = "trio_debugmcp"

WEBSITE = "https://github.com/trio-debugmcp/trio-debugmcp"

DESCRIPTION = "A real debugger for agents: runs, stops and looks into programs."

SKILLS_EXTENSION = "io.modelcontextprotocol/skills"

CARDS_EXTENSION = "io.modelcontextprotocol/ui"

EXTENSIONS: dict[str, dict[str, Any]] = {SKILLS_EXTENSION: {"directoryRead": True}, CARDS_EXTENSION: {}}
"""Extensions of the protocol, with their settings."""

SERVER_INFO = {"name": NAME, "title": TITLE, "version": __version__, "description": DESCRIPTION, "websiteUrl": WEBSITE}
"""Who the server is. Discovery has it in this order, `initialize` in that of the alphabet."""

CAPABILITIES: dict[str, dict[str, Any]] = {
    "completions": {},
    "logging": {},
    "prompts": {"listChanged": False},
    "resources": {"listChanged": True, "subscribe": True},
    "tools": {"listChanged": False},
}
"""What it can do, beside the extensions. The SDK derives it from the handlers that there are; a test compares them."""
