"""The configurations with which editors join, as the server prints them. Pure."""

import json

from trio_debugmcp.server.auth import Tokens


def vscode_configuration(host: str, port: int, tokens: Tokens) -> str:
    """Return a configuration for VS Code's launch.json, on one line.

    A token that was given is not printed: the person who gave it knows it.
    """
    token = tokens.control if tokens.made_control else "…"
    configuration = {
        "name": "Join the agent",
        "type": "debugpy",
        "request": "attach",
        "connect": {"host": host, "port": port},
        "token": token,
        "wait": True,
    }
    return json.dumps(configuration, ensure_ascii=False)
