"""Trees: counts, references, and what fits into an answer."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from trio_debugmcp.server.answers.nested_values import MAX_NOTABLE, notable, tree
from trio_debugmcp.session.looking.trees import TreeNode as Node

ROOM = 10_000


def leaf(name: str, value: str = "1", kind: str = "int") -> Node:
    return Node(name, value, kind, f"box.{name}" if name.isidentifier() else f"box{name}")


def holder(*children: Node, value: str = "Box(…)", kind: str = "Box", size: int | None = None, **more: Any) -> Node:
    return Node("box", value, kind, "box", len(children) if size is None else size, children=children, **more)


def test_leaves_are_their_values_and_everything_else_has_a_count() -> None:
    inner = Node("lines", "[2 items]", "list", "box.lines", 2)
    found = tree(holder(leaf("n"), leaf("name", "ben", "Name"), inner), ROOM)
    assert found == {
        "value": "Box(…)",
        "count": 3,
        "children": {"n": "1", "name": "ben (Name)", "lines": {"value": "[2 items]", "count": 2}},
    }


def test_references_are_in_the_place_of_what_is_shown_elsewhere() -> None:
    found = tree(
        holder(Node("up", "", path="box.up", cycle="box"), Node("other", "", path="box.other", same="b")), ROOM
    )
    assert found["children"] == {"up": {"cycle": "box"}, "other": {"same": "b"}}


def test_what_the_text_shows_is_not_repeated() -> None:
    assert "children" not in tree(holder(leaf("[0]"), value="[1]", kind="list"), ROOM)
    assert "children" not in tree(holder(leaf("n"), value="Box(n=1)"), ROOM)
    for shown in (
        holder(leaf("n"), value="<Box 1>"),
        holder(leaf("[0]"), value="[1, … (+1 item)]", kind="list", size=2),
        holder(Node("[0]", "[]", "list", "box[0]", 1), value="[[]]", kind="list"),
        holder(leaf("[0]"), value="[1]", kind="list", size=2),
        holder(Node("[0]", "", path="box[0]", same="b"), value="[[…]]", kind="list"),
    ):
        assert "children" in tree(shown, ROOM), shown


def test_names_are_the_part_of_the_path_behind_the_parent() -> None:
    keyed = Node("[Key!]", "1", "int", "[*box.values()][0]")
    element = Node("[0]", "1", "int", "[*box][0]")
    odd = Node("a b", "1", "int", "box.__dict__['a b']")
    far = Node("size", "1", "int", "boxes.size")
    found = tree(holder(keyed, element, odd, far, leaf("['k']"), leaf("['k']")), ROOM)["children"]
    assert found == {
        "[*box.values()][0]": {"key": "Key!", "value": "1"},
        "[*box][0]": "1",
        "__dict__['a b']": "1",
        "boxes.size": "1",
        "['k']": "1",
        "['k'] (2)": "1",
    }


def test_what_the_adapter_does_not_count_is_named() -> None:
    assert tree(Node("box", "Box", "Box", "box", -1), ROOM) == {"value": "Box", "more": True}
    assert tree(Node("n", "5", "int", "n"), ROOM) == {"value": "5"}


def test_of_what_is_too_large_some_children_are_there() -> None:
    wide = holder(*(leaf(f"[{number}]", "x" * 50, "X") for number in range(64)))
    found = tree(wide, 1000)
    assert (found["count"], len(found["children"])) == (64, 8)
    inner = Node("a", "A(…)", "A", "box.a", 64, children=wide.children)
    assert tree(holder(inner), 1000)["children"] == {"a": {"value": "A(…)", "count": 64}}, "levels go first"


NODES = st.recursive(
    st.builds(leaf, st.sampled_from(["a", "b", "[0]"]), st.text(max_size=40)),
    lambda inner: st.lists(inner, max_size=30).map(lambda found: holder(*found, size=len(found) + 5)),
    max_leaves=60,
)


@given(NODES, st.integers(200, 3000))
def test_it_fits_and_the_count_stays(node: Node, room: int) -> None:
    found = tree(node, room)
    assert len(json.dumps(found, ensure_ascii=False, separators=(",", ":")).encode()) <= max(room, 400)
    assert found.get("count", 0) == node.size


def test_what_stands_out_is_named_by_its_kind() -> None:
    inner = Node("child", "Box(…)", "Box", "box.child", 1, children=(Node("x", "None", "NoneType", "box.child.x"),))
    box = holder(
        leaf("n"),
        leaf("parent", "None", "NoneType"),
        leaf("name", "''", "str"),
        leaf("raw", "b''", "bytes"),
        leaf("mean", "nan", "float"),
        leaf("low", "-inf", "float"),
        leaf("quoted", "'None'", "str"),
        leaf("said", "None", "str"),  # an adapter that shows texts without quotes
        leaf("letters", '""', "Repr"),
        inner,
    )
    assert notable(box) == {
        "null": ["box.parent", "box.child.x"],
        "empty": ["box.name", "box.raw"],
        "nan": ["box.mean"],
        "infinite": ["box.low"],
    }
    assert notable(holder(leaf("n"))) == {}


def test_of_very_much_that_stands_out_the_rest_is_counted() -> None:
    found = notable(holder(*(leaf(f"[{each}]", "None", "NoneType") for each in range(500))))
    assert found == {"null": [*(f"box[{each}]" for each in range(MAX_NOTABLE)), f"{500 - MAX_NOTABLE} more"]}
    long = notable(holder(leaf("x" * 500, "nan", "float")))["nan"][0]
    assert len(long) < 100
