"""The skill, sent to clients by the extension `io.modelcontextprotocol/skills` of MCP (SEP-2640).

Owns the methods `skills/list`, `skills/get` and `resources/directory/read`, and the resources `skill://…`, which are
readable at any time and not in `resources/list`: a client finds them by `skills/list`.

    serve_skills(server)
    if is_skill_uri(uri):
        return read_skill_file(ctx, uri)
"""

from functools import cache
from hashlib import sha256
from typing import Any

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS

from trio_debugmcp.server.declared import EXTENSIONS, SKILLS_EXTENSION
from trio_debugmcp.server.missing_resources import resource_not_found
from trio_debugmcp.skill import MAIN_FILE, read_skill

SCHEME = "skill://"
FILE_TYPE = "text/markdown"
DIRECTORY_TYPE = "inode/directory"

FRESH_MILLISECONDS = 3_600_000
"""How long a client may use what it has read. The files change with the installed version of this package only."""

Context = ServerRequestContext[Any, Any]


class _GetParams(types.RequestParams):
    uri: str


class _DirectoryParams(types.PaginatedRequestParams):
    uri: str


def serve_skills(server: Server[dict[str, Any]]) -> None:
    """Declare the extension, and add its methods to a server."""
    server.extensions[SKILLS_EXTENSION] = EXTENSIONS[SKILLS_EXTENSION]
    server.add_request_handler("skills/list", types.PaginatedRequestParams, _list)
    server.add_request_handler("skills/get", _GetParams, _get)
    server.add_request_handler("resources/directory/read", _DirectoryParams, _read_directory)


def is_skill_uri(uri: str) -> bool:
    """Return whether a resource is, or could be, a file of a skill."""
    return uri.startswith(SCHEME)


def read_skill_file(ctx: Context, uri: str) -> types.ReadResourceResult:
    """Answer `resources/read`, byte for byte what the digest was made of.

    Raises:
        MCPError: there is no such file.
    """
    text = _files().get(uri)
    if text is None:
        sentence = f"Unknown file of a skill. There are: {', '.join(_files())}"
        raise resource_not_found(uri, sentence, ctx.protocol_version)
    content = types.TextResourceContents(uri=uri, mime_type=FILE_TYPE, text=text.decode())
    return types.ReadResourceResult(contents=[content], ttl_ms=FRESH_MILLISECONDS, cache_scope="public")


async def _list(ctx: Context, params: types.PaginatedRequestParams) -> dict[str, Any]:
    return {"skills": [_entry()], **_FRESH}


async def _get(ctx: Context, params: _GetParams) -> dict[str, Any]:
    if params.uri != _entry()["uri"]:
        message = f"There is no skill at {params.uri}. There is one at {_entry()['uri']}"
        raise MCPError(code=INVALID_PARAMS, message=message, data={"uri": params.uri})
    return {"skill": _entry(), **_FRESH}


async def _read_directory(ctx: Context, params: _DirectoryParams) -> dict[str, Any]:
    directories = {uri.rpartition("/")[0] for uri in _files()}
    if params.uri not in directories:
        message = f"{params.uri} is not a directory of a skill. There are: {', '.join(sorted(directories))}"
        raise MCPError(code=INVALID_PARAMS, message=message, data={"uri": params.uri})
    children = [_resource(uri, FILE_TYPE) for uri in _files()]
    children += [_resource(uri, DIRECTORY_TYPE) for uri in sorted(directories)]
    return {"resources": [child for child in children if child["uri"].rpartition("/")[0] == params.uri]}


_FRESH = {"ttlMs": FRESH_MILLISECONDS, "cacheScope": "public"}


@cache
def _files() -> dict[str, bytes]:
    """Return the files by their URIs, the main one first."""
    skill = read_skill()
    return {f"{SCHEME}{skill.name}/{path}": text for path, text in skill.files.items()}


@cache
def _entry() -> dict[str, Any]:
    """Return the skill as the extension describes one: its head, and every file with its digest and size."""
    return {
        "uri": next(iter(_files())),
        "frontmatter": read_skill().frontmatter,
        "resources": [
            {"uri": uri, "digest": f"sha256:{sha256(text).hexdigest()}", "size": len(text)}
            for uri, text in _files().items()
        ],
    }


def _resource(uri: str, mime_type: str) -> dict[str, Any]:
    name = uri.rpartition("/")[2]
    if name != MAIN_FILE:
        return {"uri": uri, "name": name, "mimeType": mime_type}
    head = read_skill().frontmatter
    return {"uri": uri, "name": head["name"], "description": head["description"], "mimeType": mime_type}
