"""A source as scopes and their statements."""

from trio_debugmcp.runs.source.source_reader import read_source
from trio_debugmcp.runs.source.source_scopes import SourceScope

SOURCE = """\
class Shop:
    def __init__(self, cart=()):
        self.items = list(cart); self.paid = False

    def total(self):
        amount = 0
        for item in self.items:
            if item.gift:
                continue
            amount += item.price
        return amount


def outer(limit):
    count = 0

    def inner():
        nonlocal count
        count += limit
        return (x + count for x in range(3))

    return inner


if __name__ == "__main__": print(Shop().total())
"""


def scope(name: str) -> SourceScope:
    source = read_source(SOURCE)
    assert source is not None
    (found,) = [inner for inner in source.scopes if inner.name == name]
    return found


def test_scopes_have_the_names_of_code_objects() -> None:
    source = read_source(SOURCE)
    assert source is not None
    assert [inner.name for inner in source.scopes] == [
        "<module>",
        "Shop",
        "Shop.__init__",
        "Shop.total",
        "outer",
        "outer.<locals>.inner",
        "outer.<locals>.inner.<locals>.<genexpr>",
    ]


def test_statements_on_one_line_are_one() -> None:
    (statement,) = scope("Shop.__init__").statements
    assert [str(path) for path in statement.stores] == ["self.items", "self.paid"]


def test_a_compound_with_its_block_on_its_line_is_one_statement() -> None:
    statement = scope("<module>").statement(25)
    assert statement is not None
    assert (len(statement.nodes), statement.inner) == (2, [])


def test_a_statement_knows_the_blocks_it_is_in_and_what_comes_before() -> None:
    statement = scope("Shop.total").statement(10)
    assert statement is not None
    assert statement.text == "amount += item.price"
    assert [outer.text for outer in statement.outer()] == ["for item in self.items:"]
    assert [before.text for before in statement.before] == ["if item.gift:"]


def test_a_name_belongs_to_the_function_that_binds_it() -> None:
    inner = scope("outer.<locals>.inner")
    home, limit = inner.home("count"), inner.home("limit")
    assert home is not None
    assert home.name == "outer"
    assert limit is not None
    assert limit.name == "outer"
    assert inner.home("range") is None


def test_methods_do_not_see_the_names_of_their_class() -> None:
    assert scope("Shop.total").home("total") is None


def test_of_a_constant_effect_all_there_is_to_know_is_that_it_ran() -> None:
    leave, add = scope("Shop.total").statement(9), scope("Shop.total").statement(10)
    assert leave is not None
    assert add is not None
    assert (leave.is_constant, add.is_constant, leave.leaves) == (True, False, True)


def test_a_text_that_this_python_cannot_read_has_no_scopes() -> None:
    assert read_source("def f(:\n") is None


def test_a_decorated_function_begins_at_its_decorator() -> None:
    source = read_source("@cache\ndef f():\n    return 1\n")
    assert source is not None
    found = source.scope("f", 1)
    assert found is not None
    assert found.first == 1


def test_what_is_in_a_function_is_read_when_it_is_asked_for() -> None:
    source = read_source(SOURCE)
    assert source is not None
    assert source.scope("Shop.total", 5) is not None
    assert [scope.name for scope in source.module.inner if "body" not in vars(scope)] == ["outer"]
    assert source.scope("outer.<locals>.inner.<locals>.<genexpr>", 20) is not None
    assert [scope.name for scope in source.module.inner if "body" not in vars(scope)] == []
