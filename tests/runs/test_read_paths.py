"""What an expression reads, in the order of evaluation."""

import ast

from trio_debugmcp.runs.source.read_paths import PathRead, calls_in, reads_of


def read(source: str) -> list[PathRead]:
    return reads_of(ast.parse(source, mode="eval").body)


def paths(source: str) -> list[str]:
    return [str(path_read.path) for path_read in read(source)]


def test_names_attributes_and_items_are_paths() -> None:
    assert paths("a.b['k'][0] + c") == ["a.b['k'][0]", "c"]


def test_a_key_that_is_a_name_is_read_before_the_item() -> None:
    assert paths("prices[item]") == ["item", "prices[item]"]


def test_a_slice_reads_its_container_whole() -> None:
    assert [(str(path_read.path), path_read.is_whole) for path_read in read("xs[i:]")] == [("xs", True), ("i", True)]


def test_an_argument_belongs_to_its_call_and_comes_before_its_end() -> None:
    first, inner, argument = read("f(g(x))")
    assert (first.is_callee, inner.is_callee) == (True, True)
    assert argument.argument_of is not None
    assert (ast.unparse(argument.argument_of), argument.after) == ("g(x)", 0)


def test_what_is_read_after_a_call_says_so() -> None:
    assert [path_read.after for path_read in read("f(x) + y") if not path_read.is_callee] == [0, 1]


def test_calls_are_in_the_order_in_which_they_are_made() -> None:
    calls = calls_in(ast.parse("a(b(1)) + c()", mode="eval").body)
    assert [ast.unparse(call.func) for call in calls] == ["b", "a", "c"]


def test_the_object_whose_method_is_called_is_used_whole() -> None:
    (target,) = [path_read for path_read in read("cart.extend(items)") if path_read.target_of]
    assert (str(target.path), target.is_whole) == ("cart", True)


def test_a_comprehension_reads_its_container_and_attributes_of_its_items() -> None:
    reads = read("[item.price for item in cart.items if item.paid]")
    assert [(str(path_read.path), path_read.of_items) for path_read in reads] == [
        ("cart.items", ""),
        ("cart.items", ".paid"),
        ("cart.items", ".price"),
    ]


def test_the_values_of_a_dictionary_are_its_items() -> None:
    reads = read("sum(bill.due for number, bill in sorted(bills.items()))")
    assert [str(path_read.path) for path_read in reads if path_read.of_items] == ["bills"]


def test_what_a_lambda_reads_is_read_when_it_is_called() -> None:
    assert paths("sorted(xs, key=lambda x: x.y)") == ["sorted", "xs"]


def test_the_test_of_a_conditional_expression_counts_whole_and_its_branches_are_passed_on() -> None:
    reads = reads_of(ast.parse("a if b else c", mode="eval").body, whole=False)
    assert [(str(path_read.path), path_read.is_whole) for path_read in reads] == [
        ("b", True),
        ("a", False),
        ("c", False),
    ]
