"""Values of one expression in many processes: as few lines, what is odd first."""

from trio_debugmcp.server.answers.answer import encoded
from trio_debugmcp.server.answers.fleet.fleet_classes import ProcessNow
from trio_debugmcp.server.answers.fleet.group_answers import ValueIn, group_values
from trio_debugmcp.server.answers.fleet.value_classes import value_lines


def process(rank: int) -> ProcessNow:
    return ProcessNow(f"s-{rank + 2}", {"rank": str(rank)})


def lines(*values: str) -> list[str]:
    return value_lines([(process(rank), value) for rank, value in enumerate(values)])


def test_equal_values_are_one_class_and_the_rare_one_comes_first() -> None:
    assert lines("'a'", "'a'", "'b'", "'a'") == ["1 has 'b' (rank 2: s-4)", "3 have 'a' (rank 0-1, 3)"]


def test_of_many_numbers_the_least_and_the_greatest_are_named_and_nan_comes_first() -> None:
    numbers = [f"0.{rank + 10}" for rank in range(32)]
    numbers[3] = "nan"
    assert lines(*numbers) == [
        "1 has nan (rank 3: s-5)",
        "31 have 0.10 (rank 0: s-2) to 0.41 (rank 31: s-33)",
    ]


def test_a_number_far_from_all_others_has_a_line_of_its_own() -> None:
    numbers = [str(100 + rank) for rank in range(31)]
    assert lines(*numbers, "-5e9") == [
        "1 has -5e9 (rank 31: s-33)",
        "31 have 100 (rank 0: s-2) to 130 (rank 30: s-32)",
    ]


def test_numbers_of_libraries_are_numbers_and_infinity_is_as_strange_as_nan() -> None:
    numbers = [f"tensor(0.{rank + 10}, device='cuda:0')" for rank in range(10)]
    assert lines("tensor(-inf)", *numbers)[0] == "1 has tensor(-inf) (rank 0: s-2)"
    assert lines("tensor(-inf)", *numbers)[1].startswith("10 have tensor(0.10, device='cuda:0') (rank 1: s-3) to ")
    assert lines(*(f"0.{rank + 10} (float32)" for rank in range(9)))[0].startswith("9 have 0.10 (float32) (rank 0")


def test_nan_is_found_inside_values_and_not_in_words() -> None:
    assert lines("[1.0, nan]", "'nan'", "['nan', nano]")[0] == "1 has [1.0, nan] (rank 0: s-2)"
    assert value_lines([(process(0), "nano"), (process(1), "1")])[0].startswith("1 has nano")


def test_values_that_differ_in_addresses_only_are_equal() -> None:
    [line] = lines("<Job at 0x7f0000001000>", "<Job at 0x7f0000002000>")
    assert line == "2 have <Job at 0x7f0000001000> (rank 0-1: s-2, s-3)"


def test_a_thousand_answers_are_counted_and_fit() -> None:
    processes = [process(rank) for rank in range(1000)]
    found = {each.id: ValueIn(each.id, each.labels, f"'{each.id} {'x' * 100}'") for each in processes}
    for rank in (5, 700):
        found[f"s-{rank}"] = ValueIn(f"s-{rank}", {}, error=f"process {rank}: does not answer")
    answer = group_values("name", processes, found, [])
    assert answer.processes == "1000 (rank 0-999); 2 have no value"
    assert answer.failed == ["2 (rank 3, 698: s-5, s-700): process 5: does not answer (other numbers elsewhere)"]
    assert len(answer.values) + answer.omitted["values"] == 998
    assert len(encoded(answer)[0]) <= 4096


def test_values_that_are_cut_are_said_to_be_compared_as_shown() -> None:
    processes = [process(0), process(1)]
    found = {each.id: ValueIn(each.id, each.labels, "'xxx… (100 more)'") for each in processes}
    [note] = group_values("text", processes, found, []).notes
    assert "raise max_value_length" in note


def test_numbers_in_hexadecimal_are_equal_only_if_they_are() -> None:
    assert [line.partition(" (")[0] for line in lines("'0xdeadbeef'", "'0xdeadbef0'")] == [
        "1 has '0xdeadbeef'",
        "1 has '0xdeadbef0'",
    ]


def test_values_of_several_parts_are_not_a_range_of_their_first() -> None:
    assert all(" from " not in line for line in lines(*(f"Fraction({place}, {place * 11})" for place in range(1, 20))))
