"""Variables that users set: only where the program sees them, and only what is there."""

import json
import sys
from typing import Any, Dict, Tuple

from trio_debugmcp.probe.inside import questions
from trio_debugmcp.probe.inside.values import assignment

shared = 1


class Key:
    pass


class Basket:
    limit: int
    __slots__ = ("limit", "owner")

    def __init__(self) -> None:
        self.owner = "ben"


class Private:
    kind = "a"

    def __init__(self) -> None:
        self.__inner = {"x": 1}
        self.inner = Basket()

    def read(self) -> Any:
        return self.__inner


def outcome(number: int) -> Dict[str, Any]:
    return dict(json.loads(questions.call("outcome", json.dumps({"number": number})))["answer"])


def put(target: str, value: Any, **names: Any) -> Tuple[str, Any]:
    """The error, and the names afterwards."""
    frame = type("Frame", (), {"f_globals": globals(), "f_locals": names, "f_code": compile("", "", "exec")})
    try:
        assignment.assign(target, value, {**globals(), **names}, frame)
    except Exception as error:
        return f"{type(error).__name__}: {error}", names
    return "", names


def check_names_are_set_where_they_are() -> None:
    assert put("count", 2, count=1) == ("", {"count": 2})
    assert put("shared", 2) == ("", {})
    assert shared == 2
    assert put("none", 2)[0].startswith("NameError: there is no variable 'none' here")
    assert put("len", 2)[0].startswith("NameError")


def check_a_name_of_a_function_is_its_own_even_before_it_has_a_value() -> None:
    def work() -> Any:
        frame = sys._getframe()
        names: Dict[str, Any] = dict(globals())
        assignment.assign("late", 3, names, frame)
        assignment.assign("shared", 4, names, frame)
        before = frame.f_locals["late"]
        late = 5
        return before, late, frame.f_locals.get("shared")

    assert work() == (3, 5, None)
    assert shared == 4


def check_fields_are_set_with_the_names_that_their_classes_give_them() -> None:
    basket, private = Basket(), Private()
    assert put("basket.owner", "eva", basket=basket)[0] == ""
    assert put("basket.limit", 1, basket=basket)[0] == "", "a slot that has no value yet"
    assert (basket.owner, basket.limit) == ("eva", 1)
    assert put("p.__inner['x']", 2, p=private)[0] == ""
    assert private.read() == {"x": 2}
    assert put("p.__inner", 3, p=private)[0] == ""
    assert (private.read(), sorted(vars(private))) == (3, ["_Private__inner", "inner"])
    assert put("p.kind", "b", p=private)[0] == ""
    assert (private.kind, Private.kind) == ("b", "a")
    assert put("p.inner.owner", "ann", p=private)[0] == ""
    assert private.inner.owner == "ann"
    assert "has no attribute 'ownr'" in put("basket.ownr", 1, basket=basket)[0]
    assert "has no attribute '__nope'" in put("p.__nope", 1, p=private)[0]


def check_items_are_set_by_key_index_and_position() -> None:
    key = Key()
    held = {"a": [1, 2], key: 1}
    assert put("held['a'][-1]", 9, held=held)[0] == ""
    assert put("[*held.values()][1]", 8, held=held)[0] == ""
    assert put("held['new']", 7, held=held)[0] == ""
    assert held == {"a": [1, 9], key: 8, "new": 7}
    assert put("held['a'][2]", 9, held=held)[0].startswith("IndexError")
    assert put("t[0]", 9, t=(1,))[0].startswith("TypeError")
    assert put("[*s][0]", 9, s={1})[0].startswith("TypeError: elements of a set")
    assert put("len(held)", 9, held=held)[0].startswith("TypeError: it is computed")


def check_values_are_evaluated_in_the_frame_and_what_fails_is_reported() -> None:
    names = {"count": 3, "here": assignment.here}
    eval("here(900, 12345, 0, 'count', 'count * 2')", names)
    assert outcome(900)["error"] == "LookupError: the frame is not there any more"
    eval("here(901, 12345, 0, 'count', 'nope')", names)
    assert outcome(901)["error"].startswith("NameError")
    eval("here(902, 12345, 0, 'count', 'exit(3)')", names)
    assert outcome(902)["exit"] == "3"
