"""Our member in a JSON file with comments: set and removed, with every other character as it was."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trio_debugmcp.hosts.edit_refused import EditRefusedError
from trio_debugmcp.hosts.jsonc_edits import with_member, without_member
from trio_debugmcp.launch_json import jsonc

PATH = ("servers", "debugger")

MEMBER = {"command": "x"}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", '{\n  "servers": {\n    "debugger": {\n      "command": "x"\n    }\n  }\n}\n'),
        ("// mine\n", '// mine\n{\n  "servers": {\n    "debugger": {\n      "command": "x"\n    }\n  }\n}\n'),
        ('{"a": 1}', '{"a": 1, "servers": {"debugger": {"command": "x"}}}'),
        ('{"servers": {"a": 1,}}', '{"servers": {"a": 1, "debugger": {"command": "x"}}}'),
        (
            '{\n\t"servers": {\n\t\t"a": 1 // one\n\t}\n}',
            '{\n\t"servers": {\n\t\t"a": 1, // one\n\t\t"debugger": {\n\t\t\t"command": "x"\n\t\t}\n\t}\n}',
        ),
        (
            '{\r\n    "servers": {\r\n    }\r\n}',
            '{\r\n    "servers": {\r\n        "debugger": {\r\n          "command": "x"\r\n        }\r\n    }\r\n}',
        ),
        ('\ufeff{"servers": {"debugger": {"command": "old"}, "b": 2}}', None),
        ('{"servers": {"debugger": 1, "debugger": 2}}', None),
    ],
)
def test_a_member_is_set_in_the_style_of_the_file(before: str, after: str | None) -> None:
    edited = with_member(before, PATH, MEMBER)
    assert jsonc.parse(edited, "f")["servers"]["debugger"] == MEMBER
    if after is not None:
        assert edited == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('{"servers": {"debugger": 1, "b": 2}}', '{"servers": {"b": 2}}'),
        ('{"servers": {"a": [","], "debugger": 1}}', '{"servers": {"a": [","] }}'),
        (
            '{\n  "servers": {\n    "a": 1, // one\n    "debugger": 1\n  }\n}',
            '{\n  "servers": {\n    "a": 1 // one\n  }\n}',
        ),
        ('{"servers": {"a": 1 /* x, y */, "debugger": 1}}', '{"servers": {"a": 1 /* x, y */ }}'),
        ('{"servers": {"debugger": 1 /* x, y */, "b": 2}}', '{"servers": {/* x, y */ "b": 2}}'),
        ('{"servers": {"a": 1}}', '{"servers": {"a": 1}}'),
        ('{"servers": [1]}', '{"servers": [1]}'),
        ("", ""),
    ],
)
def test_a_member_is_removed_and_comments_stay(before: str, after: str) -> None:
    assert without_member(before, PATH) == after


@pytest.mark.parametrize("text", ["[]", '{"servers": []}', '{"servers": "x"}'])
def test_what_is_not_an_object_gets_no_member(text: str) -> None:
    with pytest.raises(EditRefusedError, match="is not an object"):
        with_member(text, PATH, MEMBER)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=12,
)

FILES = st.dictionaries(st.sampled_from(["servers", "a", "{", "//"]), VALUES, max_size=4)


@given(FILES, st.sampled_from([None, 2, "\t"]), st.booleans())
def test_of_any_file_nothing_else_changes(content: dict[str, object], indent: int | str | None, escaped: bool) -> None:
    text = json.dumps(content, indent=indent, ensure_ascii=escaped)
    servers = content.get("servers", {})
    if not isinstance(servers, dict):
        return
    edited = with_member(text, PATH, MEMBER)
    assert json.loads(edited) == {**content, "servers": {**servers, "debugger": MEMBER}}
    assert json.loads(without_member(edited, PATH)) == {
        **content,
        "servers": {name: value for name, value in servers.items() if name != "debugger"},
    }
