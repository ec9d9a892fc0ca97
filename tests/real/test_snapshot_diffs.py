"""Snapshots of a real program's variables, compared; every path of an answer leads back to the value."""

from pathlib import Path

from tests.real.conftest import Connect

SHOP = """\
import threading

class Line:
    def __init__(self, product, price):
        self.product, self.price = product, price
    def __repr__(self):
        shown.append(self)
        return "Line"

class Basket:
    def __init__(self):
        self.lines, self.owner, self.lock = [Line("pen", 2), Line("cup", 5)], "ann", threading.Lock()
        self.itself = self

shown = []

def visit(count):
    basket, tags, text, numbers = Basket(), {"b", "a"}, "x" * 5000, list(range(3000))
    seen, places = iter([1]), {Line("key", 1): [1]}
    size = 1  # first
    basket.lines[1].price = 6
    basket.lines.append(Line("mug", 1))
    basket.owner = None
    tags.remove("a"), tags.add("c")
    text = "x" * 4999 + "y"
    numbers[2900] = 0
    extra = [1]
    del count
    size = 2  # second
    return size  # third

visit(1)
"""


async def test_a_diff_names_what_changed_and_each_path_leads_back(debugging: Connect, tmp_path: Path) -> None:
    file = tmp_path / "shop.py"
    file.write_text(SHOP)
    async with debugging() as client:
        points = [
            {"file": str(file), "statement": f"size = {n}  # {word}"} for n, word in ((1, "first"), (2, "second"))
        ]
        await client.call("debug_launch", program=str(file), breakpoints=points)
        shown = await client.call("evaluate_safe", expression="len(shown)")
        first = await client.call("snapshot_create")
        assert await client.call("evaluate_safe", expression="len(shown)") == shown, "no code of the program was run"
        assert first["variables"] == 7
        await client.call("debug_continue")
        await client.call("snapshot_create", label="later", depth=3)
        await client.call("snapshot_create")
        found = await client.call("snapshot_diff", before="snap-1", after="snap-3")
        tags = {each[-5:] for each in (*found["added"], *found["removed"]) if "tags" in each}
        assert tags <= {"s][0]", "s][1]"}
        added = {path: value for path, value in found["added"].items() if "tags" not in path}
        assert added == {"basket.lines[2]": "Line(product='mug', price=1)", "extra": "[1]", "size": "1"}
        assert [value for path, value in found["added"].items() if "tags" in path] == ["'c'"]
        assert sorted(found["removed"].values()) == ["'a'", "1"]
        changed = found["modified"]
        cup = {"old": "Line(product='cup', price=5)", "new": "Line(product='cup', price=6)"}
        assert {*changed} == {"basket.lines[1]", "basket.owner", "numbers", "text"}
        assert (changed["basket.lines[1]"], changed["basket.owner"]["new"]) == (cup, "None")
        assert changed["text"]["new"] == changed["numbers"]["new"] == "(differs beyond what is shown)"
        assert (found["unknown"], found["unknownAt"], "notes" in found) == (1, ["seen"], False)
        assert found["unchanged"] > 100
        deeper = await client.call("snapshot_diff", before="snap-1", after="later")
        assert deeper["notes"] == ["different depths: 2, then 3"]
        for path, value in {**found["added"], "basket.owner": "None", "basket.lines[1].price": "6"}.items():
            seen = await client.call("variables_get", path=path)
            assert "Line" in value or seen.get("value", "[1]") == value, path
        listed = await client.call("snapshot_list")
        assert [each.partition(" ")[0] for each in listed["snapshots"]] == ["snap-1", "snap-2", "snap-3"]
        await client.call("debug_disconnect")
        assert await client.call("snapshot_list") == listed
