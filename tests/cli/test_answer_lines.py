from trio_debugmcp.cli._answer_lines import answer_lines


def test_an_answer_is_shown_as_lines_below_their_names() -> None:
    answer = {
        "state": "Paused",
        "at": "shop.py:12 in total",
        "stack": ["<module> :20"],
        "locals": {"amount": "13", "cart": "[]"},
        "source": "11  amount += price\n12> return amount",
        "values": {"deep": {"n": 1}, "empty": {}},
        "pid": 7,
        "timedOut": True,
    }
    assert answer_lines(answer) == [
        "state: Paused",
        "at: shop.py:12 in total",
        "stack:",
        "  <module> :20",
        "locals:",
        "  amount = 13",
        "  cart = []",
        "source:",
        "  11  amount += price",
        "  12> return amount",
        "values:",
        "  deep:",
        "    n = 1",
        "  empty: {}",
        "pid: 7",
        "timedOut: true",
    ]


def test_further_lines_of_a_value_are_not_taken_for_the_next_entry() -> None:
    assert answer_lines({"show": {"r": "a\nb = 3", "s": "1"}, "stack": ["f :3\nstate: Paused"]}) == [
        "show:",
        "  r = a\n      b = 3",
        "  s = 1",
        "stack:",
        "  f :3\n      state: Paused",
    ]


def test_a_line_break_at_the_end_makes_no_block() -> None:
    assert answer_lines({"stdout": "hello\n"}) == ["stdout: hello"]


def test_objects_in_a_list_have_their_lines_behind_a_dash() -> None:
    stacks = [{"threads": ["2 w", "3 w"], "count": 2, "frames": ["w two.py:3"]}, {"frames": [{}]}]
    assert answer_lines({"stacks": stacks}) == [
        "stacks:",
        "  - threads:",
        "      2 w",
        "      3 w",
        "    count: 2",
        "    frames:",
        "      w two.py:3",
        "  - frames:",
        "      {}",
    ]
