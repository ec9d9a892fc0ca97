"""A stdio MCP server whose one tool `t` runs, and which is odd in the way that its argument names.

It counts the calls of the tool on standard error.
"""

import json
import sys
from typing import Any

HOW = sys.argv[1]


def send(**message: Any) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


RESULT: dict[str, Any] = {"content": [], "structuredContent": {"a": "x"}}
SCHEMAS: dict[str, dict[str, Any]] = {
    "a regular expression that is none": {"properties": {"a": {"pattern": "("}}},
    "a schema of itself": {"$ref": "#"},
    "a dialect that is no text": {"$schema": ["x"]},
}
RESULTS: dict[str, dict[str, Any]] = {
    "half a character": {"content": [{"type": "text", "text": "\ud800"}]},
    "a block of no type": {"content": [{"type": [1]}]},
    "a list as structured content": {"content": [], "structuredContent": [1]},
}


def discovered() -> dict[str, Any]:
    match HOW:
        case "versions that are a number":
            return {"result": {"supportedVersions": 5}}
        case "an error that is text":
            return {"error": "no"}
        case "metadata that is a list":
            versions = ["2026-07-28"]
            return {"result": {"supportedVersions": versions, "_meta": [1], "capabilities": {"tools": {}}}}
        case _:
            return {"error": {"code": -32601, "message": "no"}}


def call(number: int, meta: dict[str, Any]) -> None:
    sys.stderr.write("called\n")
    token = meta["progressToken"]
    match HOW:
        case "two questions with one id":
            send(id="q", method="roots/list")
            send(id="q", method="roots/list")
        case "a list as id":
            send(id=["q"], method="ping")
        case "a line of brackets":
            sys.stdout.write("[" * 100_000 + "\n")
        case "progress that is none":
            send(method="notifications/progress", params={"progressToken": token, "progress": "x"})
            send(method="notifications/progress", params={"progressToken": [token], "progress": 1})
            send(method="notifications/progress", params=[1])
            send(method="notifications/cancelled", params={"requestId": [1]})
            send(method=5)
        case "questions that are none":
            send(id="q", method="elicitation/create", params=[1])
            send(id="r", method="sampling/createMessage")
        case "answers to others":
            send(id=999, result={"content": 1})
            send(id=str(number), result={"content": 1})
        case "an error that is null":
            send(id=number, result=RESULT, error=None)
            return
    send(id=number, result=RESULTS.get(HOW, RESULT))


def main() -> None:
    for line in sys.stdin:
        message = json.loads(line)
        number = message.get("id")
        match message.get("method"):
            case "server/discover":
                send(id=number, **discovered())
            case "initialize":
                capabilities: Any = ["tools"] if HOW == "capabilities that are a list" else {"tools": {}}
                server = {"name": "odd", "version": "1"}
                welcome = {"protocolVersion": "2025-11-25", "capabilities": capabilities, "serverInfo": server}
                send(id=number, result=welcome)
            case "tools/list":
                tool: dict[str, Any] = {"name": "t", "inputSchema": {"type": "object"}}
                if HOW == "properties that are a number":
                    tool["inputSchema"]["properties"] = 5
                if HOW in SCHEMAS:
                    tool["outputSchema"] = {"type": "object", **SCHEMAS[HOW]}
                send(id=number, result={"tools": [tool]})
            case "tools/call":
                call(number, message["params"]["_meta"])


main()
