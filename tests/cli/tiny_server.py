"""A stdio MCP server in nothing but the standard library, for tests of the command line: it starts at once.

`demo://counter` counts its reads and changes 50 ms after each subscription and each read, `demo://still`
(and `other://still`, which is not listed) never does.
The tool `fail` fails, `add` adds, `grow` adds a resource, `slow` never answers, `odd` answers with nonsense, `hidden`
is not listed and refuses, `nope` is unknown; `die` ends the server, `chatty` writes progress, a log message and a stray
line, `loose` breaks its output schema, `broken` has an output schema that cannot be used, `ask` returns what the client
answers to its question, `old` is refused with an error. `$CALLS` names a file that gets a line for each call. One of
the prompts is malformed.
With `--bare` it has only tools, with `--grows` as well it says that their list may change; with `--modern` it speaks
2026-07-28, with `--paged` its list of tools has two pages, with `--endless` no end. `--curious`
asks the client for its roots before each answer, `--silent` answers nothing after the handshake.
"""

import json
import os
import sys
import threading
from typing import Any

LOCK = threading.Lock()
RESOURCES = ["demo://counter"]
READS = {"demo://counter": 0}
ADD = {
    "name": "add",
    "inputSchema": {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}},
}
OUTPUT = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
QUESTION = {"mode": "form", "message": "Who?", "requestedSchema": {"type": "object", "properties": {}}}
CAPABILITIES: dict[str, Any] = {
    "tools": {},
    "resources": {"subscribe": True, "listChanged": True},
    "prompts": {},
    "logging": {},
    "completions": {},
}
if "--bare" in sys.argv:
    CAPABILITIES = {"tools": {"listChanged": "--grows" in sys.argv}}


def send(message: dict[str, Any]) -> None:
    with LOCK:
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        sys.stdout.flush()


def change_soon(uri: str) -> None:
    if uri.endswith("://still"):
        return
    updated = {"method": "notifications/resources/updated", "params": {"uri": uri}}
    timer = threading.Timer(0.05, send, [updated])
    timer.daemon = True
    timer.start()


def answer(method: str, params: dict[str, Any]) -> dict[str, Any]:
    if "--modern" in sys.argv and "io.modelcontextprotocol/protocolVersion" not in params.get("_meta", {}):
        raise KeyError("a request without its version")
    match method:
        case "server/discover" if "--modern" in sys.argv:
            stamp = {"io.modelcontextprotocol/serverInfo": {"name": "tiny", "version": "1"}}
            return {"supportedVersions": ["2026-07-28"], "capabilities": CAPABILITIES, "_meta": stamp}
        case "initialize":
            server = {"name": "tiny", "version": "1"}
            return {"protocolVersion": "2025-11-25", "capabilities": CAPABILITIES, "serverInfo": server}
        case "tools/list":
            names = ("fail", "grow", "echo", "slow", "odd")
            bare: list[dict[str, Any]] = [{"name": name, "inputSchema": {"type": "object"}} for name in names]
            bare += [{**bare[0], "name": "loose", "outputSchema": OUTPUT}]
            bare += [{**bare[0], "name": "broken", "outputSchema": {"type": "object", "minProperties": "x"}}]
            if "--endless" in sys.argv:
                return {"tools": [ADD], "nextCursor": "again"}
            if "--paged" in sys.argv and not params.get("cursor"):
                return {"tools": [ADD], "nextCursor": "2"}
            return {"tools": bare if "--paged" in sys.argv else [ADD, *bare]}
        case "tools/call":
            return call(params["name"], params)
        case "resources/list":
            return {"resources": [{"uri": uri, "name": uri} for uri in RESOURCES]}
        case "resources/templates/list":
            if params.get("cursor") == "2":
                return {"resourceTemplates": []}
            template = {"uriTemplate": "demo://{name}", "name": "any"}
            return {"resourceTemplates": [template], "nextCursor": "2", "_meta": {"pages": 2}}
        case "prompts/list":
            return {"prompts": [{"name": "greet", "arguments": [{"name": "who"}]}, {"name": 1}]}
        case "prompts/get":
            return {"messages": [{"role": "user", "content": {"type": "text", "text": str(params.get("arguments"))}}]}
        case "completion/complete":
            return {"completion": {"values": [str(params.get("context")), params["argument"]["value"]]}}
        case "resources/read":
            return read(params["uri"])
        case "resources/subscribe":
            change_soon(params["uri"])
            return {}
        case "ping" | "logging/setLevel" | "resources/unsubscribe":
            return {}
        case _:
            raise KeyError(method)


def call(name: str, params: dict[str, Any]) -> dict[str, Any]:
    arguments, meta = params.get("arguments") or {}, params.get("_meta") or {}
    if name == "die":
        sys.stderr.write("cannot go on\n")
        os._exit(3)
    if name == "old":
        raise RuntimeError(name)
    if name == "ask":
        return ask(params)
    if name == "chatty":
        for step in range(1, 4):
            told = {"progressToken": meta["progressToken"], "progress": step, "total": 3}
            send({"method": "notifications/progress", "params": told})
        send({"method": "notifications/message", "params": {"level": "info", "logger": "tiny", "data": "busy"}})
        sys.stdout.write("a stray line\n")
    if name in ("loose", "broken"):
        return {"content": [], "structuredContent": {"n": arguments.get("n")}}
    if name == "odd":
        return {"content": 42}
    if name == "grow":
        RESOURCES.append("demo://more")
        READS["demo://more"] = 0
        send({"method": "notifications/resources/list_changed"})
    if name == "hidden":
        return {"content": [{"type": "text", "text": "READ_ONLY: observers do not call it"}], "isError": True}
    if name == "nope":
        return {"content": [{"type": "text", "text": "Unknown tool: nope"}], "isError": True}
    said = json.dumps(arguments["a"] + arguments["b"] if name == "add" else {"arguments": arguments, "meta": meta})
    return {"content": [{"type": "text", "text": said}], "isError": name == "fail"}


def ask(params: dict[str, Any]) -> dict[str, Any]:
    """What the client answers to a question: in a request of our own, or in a second call."""
    if "--modern" in sys.argv:
        if "inputResponses" not in params:
            asked = {"who": {"method": "elicitation/create", "params": QUESTION}}
            return {"resultType": "input_required", "inputRequests": asked, "requestState": "s"}
        said = {"answer": params["inputResponses"]["who"], "state": params["requestState"]}
    else:
        send({"id": "question", "method": "elicitation/create", "params": QUESTION})
        said = {"answer": json.loads(sys.stdin.readline())["result"]}
    return {"content": [{"type": "text", "text": json.dumps(said)}]}


def read(uri: str) -> dict[str, Any]:
    if uri not in READS:
        raise LookupError(uri)
    READS[uri] += 1
    change_soon(uri)
    return {"contents": [{"uri": uri, "text": f"read {READS[uri]}"}]}


def main() -> None:
    for line in sys.stdin:
        message = json.loads(line)
        if "id" not in message or "method" not in message:
            continue
        if message["method"] == "tools/call" and "CALLS" in os.environ:
            with open(os.environ["CALLS"], "a") as calls:
                calls.write(f"{message['params']['name']}\n")
        if (message.get("params") or {}).get("name") == "slow":
            continue
        if "--silent" in sys.argv and message["method"] not in ("initialize", "server/discover"):
            continue
        if "--curious" in sys.argv:
            send({"id": "mine", "method": "roots/list"})
            send({"id": "ping", "method": "ping"})
        try:
            result = answer(message["method"], message.get("params") or {})
        except KeyError:
            send({"id": message["id"], "error": {"code": -32601, "message": f"no {message['method']}"}})
        except RuntimeError:
            send({"id": message["id"], "error": {"code": -32099, "message": "too old", "data": {"since": 1}}})
        except LookupError as missing:
            # `demo://void` in the words of 2026-07-28, without a word that says what is wrong.
            code, words = (-32602, "no") if "demo://void" in str(missing) else (-32002, f"Resource {missing} not found")
            error = {"code": code, "message": words, "data": {"uri": str(missing)}}
            send({"id": message["id"], "error": error})
        else:
            if "--modern" in sys.argv:
                cacheable = {} if message["method"] == "tools/call" else {"ttlMs": 0, "cacheScope": "private"}
                result = {"resultType": "complete", **cacheable, **result}
            send({"id": message["id"], "result": result})


main()
