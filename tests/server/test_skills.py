"""The skill as clients get it: by the skills extension of MCP, at any time, in both protocol eras."""

from hashlib import sha256
from typing import Any

import mcp_types as types
import pytest
from mcp.shared.exceptions import MCPError
from pydantic import BaseModel, ConfigDict
from trio.testing import MockClock

from trio_debugmcp.skill import read_skill
from trio_debugmcp.testing import DebugClient, connect, open_server
from trio_debugmcp.testing.connect import Era

ERAS = pytest.mark.parametrize("era", ["legacy", "modern"])
MAIN = "skill://trio-debugmcp/SKILL.md"


class AnyResult(BaseModel):
    """Whatever a method of an extension answers."""

    model_config = ConfigDict(extra="allow")


class Params(types.RequestParams):
    """Parameters that the SDK does not know."""

    uri: str | None = None


async def request(client: DebugClient, method: str, uri: str | None = None) -> dict[str, Any]:
    request = types.Request[Params, str](method=method, params=Params(uri=uri))
    answer = await client.sdk.session.send_request(request, AnyResult)
    return answer.model_dump()


async def text_of(client: DebugClient, uri: str) -> str:
    (content,) = (await client.sdk.read_resource(uri)).contents
    assert isinstance(content, types.TextResourceContents)
    assert content.mime_type == "text/markdown"
    return content.text


@ERAS
async def test_every_file_of_the_skill_reads_as_its_entry_promises(era: Era, autojump_clock: MockClock) -> None:
    async with connect(era) as client:
        (entry,) = (await request(client, "skills/list"))["skills"]
        assert entry["uri"] == MAIN
        assert entry["frontmatter"] == read_skill().frontmatter
        assert next(each["uri"] for each in entry["resources"]) == MAIN
        assert len(entry["resources"]) == len(read_skill().files)
        for each in entry["resources"]:
            text = (await text_of(client, each["uri"])).encode()
            assert (each["size"], each["digest"]) == (len(text), f"sha256:{sha256(text).hexdigest()}")
        assert (await request(client, "skills/get", uri=MAIN))["skill"] == entry


@ERAS
async def test_a_directory_lists_its_own_children_alone(era: Era, autojump_clock: MockClock) -> None:
    async with connect(era) as client:
        top = (await request(client, "resources/directory/read", uri="skill://trio-debugmcp"))["resources"]
        assert [(each["uri"], each["name"], each["mimeType"]) for each in top] == [
            (MAIN, "trio-debugmcp", "text/markdown"),
            ("skill://trio-debugmcp/references", "references", "inode/directory"),
        ]
        assert top[0]["description"] == read_skill().frontmatter["description"]
        below = (await request(client, "resources/directory/read", uri=top[1]["uri"]))["resources"]
        assert [each["name"] for each in below] == ["hangs.md", "python.md"]
        for each in below:
            await text_of(client, each["uri"])


@pytest.mark.parametrize(
    ("method", "uri", "sentence"),
    [
        ("skills/get", "skill://trio-debugmcp", "There is one at skill://trio-debugmcp/SKILL.md"),
        ("skills/get", "skill://other/SKILL.md", "There is no skill at skill://other/SKILL.md"),
        ("resources/directory/read", MAIN, "is not a directory of a skill. There are: skill://trio-debugmcp, skill:"),
        ("resources/directory/read", "skill://", "is not a directory of a skill"),
        ("resources/directory/read", "skill://trio-debugmcp/", "is not a directory of a skill"),
    ],
)
async def test_what_is_not_there_is_refused_with_what_is(
    method: str, uri: str, sentence: str, autojump_clock: MockClock
) -> None:
    async with connect("modern") as client:
        with pytest.raises(MCPError) as caught:
            await request(client, method, uri=uri)
        assert caught.value.error.code == types.INVALID_PARAMS
        assert sentence in caught.value.error.message
        assert caught.value.error.data == {"uri": uri}


@pytest.mark.parametrize(("era", "code"), [("legacy", -32002), ("modern", types.INVALID_PARAMS)])
@pytest.mark.parametrize(
    "uri", ["skill://trio-debugmcp/../__init__.py", "skill://trio-debugmcp/references", "skill://"]
)
async def test_only_the_files_of_the_skill_can_be_read(
    era: Era, code: int, uri: str, autojump_clock: MockClock
) -> None:
    async with connect(era) as client:
        with pytest.raises(MCPError, match=r"There are: skill://trio-debugmcp/SKILL\.md") as caught:
            await client.sdk.read_resource(uri)
        assert caught.value.error.code == code


@ERAS
async def test_the_skill_is_not_in_the_list_of_resources(era: Era, autojump_clock: MockClock) -> None:
    async with connect(era) as client:
        assert (await client.sdk.list_resources()).resources == []
        declared = client.sdk.server_capabilities.extensions or {}
        assert declared["io.modelcontextprotocol/skills"] == {"directoryRead": True}


async def test_a_result_says_how_long_it_holds_and_that_it_is_for_all(autojump_clock: MockClock) -> None:
    async with connect("modern") as client:
        for answer in (await request(client, "skills/list"), await request(client, "skills/get", uri=MAIN)):
            assert (answer["ttlMs"], answer["cacheScope"], answer["resultType"]) == (3_600_000, "public", "complete")
        read = await client.sdk.read_resource(MAIN)
        assert (read.ttl_ms, read.cache_scope) == (3_600_000, "public")


async def test_an_observer_gets_the_skill_too(autojump_clock: MockClock) -> None:
    async with open_server() as server, server.connect("modern", "observe") as client:
        assert len((await request(client, "skills/list"))["skills"]) == 1
