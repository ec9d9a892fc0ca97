"""Which globals a stop shows: those that the statement at hand reads."""

import logging
import sys
from typing import Any, Dict, List

from trio_debugmcp.probe.inside import stop_variables
from trio_debugmcp.probe.inside.bounds import Budget
from trio_debugmcp.probe.inside.values.rendering import Renderer

RATE = 2
LIMITS = {"a": 1}
SHARED = list(range(100))
WANTED = [1, 2, 3]
log = logging.getLogger("shop")
A = B = C = D = E = F = G = H = K = L = 1


def here() -> List[str]:
    return [name for name, _ in stop_variables.read_globals(sys._getframe(1))]


def both(*values: Any) -> Any:
    return values


def check_the_globals_of_the_statement_are_found_and_no_others() -> None:
    names, price = here(), 3 * RATE
    assert names == ["RATE"], names
    names = here()
    assert names == [], (names, price, LIMITS)


def check_a_statement_may_have_several_lines() -> None:
    found = both(
        here(),
        LIMITS["a"],
        RATE,
    )
    assert WANTED
    # The call above is on the line of its function: of the others, those are read that come behind it.
    assert found[0][:2] == ["LIMITS", "RATE"], found
    assert "WANTED" not in found[0], found


def check_comprehensions_and_lambdas_are_a_part_of_their_statement() -> None:
    found, _, _ = both(here(), [each for each in WANTED if each > RATE], lambda: LIMITS)
    assert sorted(found) == ["LIMITS", "RATE", "WANTED"], found


def check_functions_classes_modules_and_loggers_are_left_out() -> None:
    found, _ = both(here(), (both, Budget, sys, log, len, RATE))
    assert found == ["RATE"], found


def check_a_local_hides_a_global_and_a_class_body_reads_both() -> None:
    LIMITS = 5
    found, _ = both(here(), LIMITS)
    assert found == [], found

    class Shop:
        names, RATE = here(), (WANTED, LIMITS)
        later, rate = here(), RATE

    assert (Shop.names, Shop.later) == (["WANTED"], []), (Shop.names, Shop.later)


def check_they_are_bounded_in_number_and_a_module_has_none() -> None:
    found, _ = both(here(), (A, B, C, D, E, F, G, H, K, L))
    assert found == list("ABCDEFGH"), found
    assert stop_variables.MOST_GLOBALS == 8
    names: Dict[str, Any] = {"here": here, "WANTED": 1}
    exec(compile("found = here(), WANTED", "<text>", "exec"), names)
    assert names["found"][0] == []


def check_an_answer_has_them_apart_and_says_an_object_once() -> None:
    shared = SHARED  # noqa: F841
    answer: Dict[str, Any] = {}
    budget = Budget(seconds=10)
    add: Any = stop_variables.put
    both(SHARED, add(answer, sys._getframe(), 1, budget, Renderer(budget)))
    assert [each["name"] for each in answer["locals"]] == ["shared"]
    assert answer["localsTotal"] == 4
    (entry,) = answer["globals"]
    assert (entry["name"], entry["same"]) == ("SHARED", "shared")
    assert "digest" in entry
