"""A server of before: what it does not know is refused on the way between a page and the server of today.

    older_server(page)
    page.goto(agent.url(CONTROL_TOKEN))

It has the resources and tools of then, and its tools refuse to be asked for data.
"""

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import Page, WebSocketRoute

UNKNOWN_RESOURCES = ("debugger://runs", "debugger://processor", "debugger://call/")

UNKNOWN_TOOLS = {"why", "calls_get", "history_get", "run_compare", "fleet_state", "debug_more"}

UNKNOWN_FACTS = {"debugger://session": {"stopsAt", "handling", "labels"}, "debugger://sessions": {"labels"}}

TOOLS_WITHOUT_DATA = "{} has no parameter 'full'. Parameters: wait, timeout, session_id."


def older_server(page: "Page") -> list[str]:
    """Have this page speak with a server of before; return what the page asks of it, as it is asked."""
    asked: list[str] = []

    def route(socket: "WebSocketRoute") -> None:
        server = socket.connect_to_server()
        listed: dict[int, str] = {}

        def to_server(text: str | bytes) -> None:
            message = json.loads(text)
            method, params = message.get("method", ""), message.get("params", {})
            asked.append(" ".join([method, *filter(None, (params.get("uri"), params.get("name")))]))
            refusal = _refusal(method, params)
            if refusal is not None:
                socket.send(json.dumps({"jsonrpc": "2.0", "id": message["id"], **refusal}))
                return
            listed[message.get("id", 0)] = params.get("uri", method)
            server.send(text)

        def to_page(text: str | bytes) -> None:
            message = json.loads(text)
            _forget(message, listed.get(message.get("id", 0), ""))
            socket.send(json.dumps(message))

        socket.on_message(to_server)
        server.on_message(to_page)

    page.route_web_socket("**/mcp", route)
    return asked


def _refusal(method: str, params: dict[str, Any]) -> dict[str, Any] | None:
    """Return the answer of a server that does not know what is asked."""
    if str(params.get("uri", "")).startswith(UNKNOWN_RESOURCES):
        return {"error": {"code": -32002, "message": "Unknown resource. There are: debugger://session."}}
    if method == "tools/call" and params["name"] in UNKNOWN_TOOLS:
        return {"error": {"code": -32602, "message": f"Unknown tool: {params['name']}"}}
    if method == "tools/call" and "full" in params["arguments"]:
        error = {"code": "INVALID_PARAMETER", "message": TOOLS_WITHOUT_DATA.format(params["name"])}
        return {"result": {"isError": True, "content": [{"type": "text", "text": json.dumps({"error": error})}]}}
    return None


def _forget(message: dict[str, Any], asked: str) -> None:
    """Take from an answer what a server of before does not know."""
    result = message.get("result", {})
    if asked == "tools/list":
        result["tools"] = [each for each in result["tools"] if each["name"] not in UNKNOWN_TOOLS]
    elif asked == "resources/list":
        result["resources"] = [each for each in result["resources"] if not each["uri"].startswith(UNKNOWN_RESOURCES)]
    elif asked in UNKNOWN_FACTS and "contents" in result:
        known = json.loads(result["contents"][0]["text"])
        kept = {name: value for name, value in known.items() if name not in UNKNOWN_FACTS[asked]}
        result["contents"][0]["text"] = json.dumps(kept)
