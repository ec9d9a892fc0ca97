"""Which piece of a value differs from what was expected."""

from trio_debugmcp.runs.slicing.recorded_contents import UnknownContent, literal
from trio_debugmcp.runs.slicing.wanted_pieces import differences, is_in


def test_the_item_at_the_place_that_differs_is_wanted() -> None:
    wanted = differences([12, 4000, 7], [12, "4000", 7])
    assert wanted.pieces == ("'4000'",)
    assert wanted.said == "[1] is '4000', not 4000"


def test_a_key_that_is_not_there_is_missing_and_one_too_many_is_wanted() -> None:
    wanted = differences({"weather.net": 30}, {"eather.net": 30})
    assert wanted.missing == ("'weather.net'", "30")
    assert wanted.pieces == ("'eather.net'", "30")


def test_of_lists_of_different_lengths_the_items_that_only_one_has_differ() -> None:
    wanted = differences(["ada", "bo", "bo"], ["ada", "cy", "bo", "dee"])
    assert wanted.pieces == ("'cy'", "'dee'")
    assert wanted.missing == ("'bo'",)


def test_items_that_are_there_but_not_so_often_are_counted() -> None:
    seen = ["welcome kim", "seen lou", "seen kim"]
    assert differences([*seen, "seen kim"], seen).said == "it has one 'seen kim' too few"
    assert differences([1, 2], [1, 2, 2, 2]).said == "it has 2 of 2 too many"
    assert differences([1], [1, 3, 3]).said == "it has 3"
    assert differences({"a": [1, 1]}, {"a": [1]}).said == "['a'] has one 1 too few"


def test_of_a_tuple_that_is_known_in_part_the_known_items_are_compared() -> None:
    assert literal("(15, list of 4)") == (15, UnknownContent("list of 4"))
    assert literal("('a, b', (1, dict of 2), <Order>)") == (
        "a, b",
        (1, UnknownContent("dict of 2")),
        UnknownContent("<Order>"),
    )
    assert literal("(list of 4,)") == (UnknownContent("list of 4"),)
    assert literal("('it is cut…, 3)") == UnknownContent("('it is cut…, 3)")
    assert differences((10, ["A", "B"]), literal("(15, list of 4)")).said == "[0] is 15, not 10"


def test_of_what_is_not_known_nothing_is_said() -> None:
    assert differences([3, (1, 2)], [3, UnknownContent("tuple of 2")]).said == ""
    assert differences([(1, 2)], [UnknownContent("tuple of 2"), 4]).said == ""
    assert differences([("a", [1, 2])], [("a", UnknownContent("list of 2")), 4]).said == ""
    assert differences((1, 2), UnknownContent("tuple of 2")).said == ""


def test_of_another_order_the_first_place_counts() -> None:
    wanted = differences(["manual", "agenda", "letter"], ["agenda", "letter", "manual"])
    assert wanted.said == "[0] is 'agenda', not 'manual'"


def test_of_a_text_the_line_and_the_words_in_it_are_wanted() -> None:
    wanted = differences("name: ada\ntotal: 12.50", "name: ada\ntotal: 12.05")
    assert wanted.pieces == ("total: 12.05", "12.05")
    assert wanted.missing == ("12.50",)


def test_small_numbers_and_empty_texts_are_not_followed() -> None:
    assert differences({"high": 2}, {"high": 1}).pieces == ("'high'",)
    assert differences([""], ["", ""]).pieces == ()


def test_a_difference_of_numbers_may_be_one_thing_too_many() -> None:
    assert differences(100, 135).pieces == ("135", "35")
    assert differences(135, 100).missing == ("35",)


def test_a_piece_is_not_found_in_another_word_or_number() -> None:
    assert is_in("12", "('tea', 12)")
    assert not is_in("12", "112")
    assert not is_in("12", "12.5")
    assert not is_in("tea", "'steam'")


def test_a_piece_that_is_the_label_fits_before_one_that_is_in_the_text() -> None:
    wanted = differences({"low": 1}, {"low": 6})
    assert wanted.fits("6", "['low']")
    assert not wanted.fits("6", "['high']")


def test_the_way_to_the_first_item_that_differs_is_known() -> None:
    assert differences([(1, "a"), (2, "b")], [(1, "a"), (2, "c")]).path == ("[1]", "[1]")
    assert differences({"mill": 190}, {"mill": 0}).path == ("['mill']",)
    assert differences(["a"], ["a", "b"]).path == ("[1]",)
    assert differences([3, (1, 2)], [3, UnknownContent("tuple of 2")]).path == ()
    assert differences({1, 2}, {1, 3}).path == ()
