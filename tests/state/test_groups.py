"""Which processes a group means, and what is said of one that means none."""

import pytest

from trio_debugmcp.errors import UsageError
from trio_debugmcp.state.groups import Chosen, GroupMember, parsed, selected


def member(rank: int, *functions: str, host: str = "a1", stopped: bool = False, odd: bool = False) -> GroupMember:
    labels = {"rank": str(rank), "host": host}
    return GroupMember(f"s-{rank + 2}", labels, stopped, frozenset(functions), odd)


MEMBERS = [
    member(0, "all_reduce", "main"),
    member(1, "all_reduce", "main", stopped=True),
    member(2, "Loader.load_batch", "main", host="a2", odd=True),
    member(3, "all_reduce", "main", host="a2"),
]


def chosen(text: str) -> Chosen:
    return selected(parsed(text), MEMBERS)


@pytest.mark.parametrize(
    ("text", "ranks"),
    [
        ("all", "0123"),
        ("stopped", "1"),
        ("Running", "023"),
        ("odd", "2"),
        ("in:load_batch", "2"),
        ("in=Loader.load_batch", "2"),
        ("in: all_reduce", "013"),
        ("rank=3", "3"),
        ("rank=0-2", "012"),
        ("rank 0-1, 3", "013"),
        ("rank=0,rank=2", "02"),
        ("host=a2", "23"),
        ("host=a1, host=a2", "0123"),
        ("rank=0-2, host=a2", "2"),
        ("running,in:all_reduce,host=a1", "0"),
        ("s-2,s-5", "03"),
        ("rank 2", "2"),
    ],
)
def test_terms_of_one_kind_are_alternatives_and_those_of_several_kinds_all_hold(text: str, ranks: str) -> None:
    assert chosen(text) == Chosen(tuple(f"s-{int(rank) + 2}" for rank in ranks))


def test_one_that_is_called_by_its_name_alone_is_found_by_it() -> None:
    workers = [GroupMember("s-2", {"name": "ForkPoolWorker-1"}), GroupMember("s-3", {"name": "ForkPoolWorker-2"})]
    assert selected(parsed("ForkPoolWorker-2"), workers).ids == ("s-3",)


def test_ranks_of_a_range_that_are_not_there_are_named() -> None:
    assert chosen("rank=2-999999999, rank=0") == Chosen(("s-2", "s-4", "s-5"), ("no process has rank 4-999999999",))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "A group is `all`, `stopped`"),
        ("rank=captain", "rank is a number or a range, as rank=3 or rank=0-7, not 'captain'."),
        ("rank=0-99999999999", "rank=0-99999999999 is beyond 999999999, which no rank is: a range is rank=0-7."),
        ("rank=" + "9" * 5000, "rank=999"),
        ("rank=3-0", "rank=3-0 is empty: a range begins with its least, as rank=0-3."),
        ("rnak=3", "No label is called 'rnak'. Do you mean rank? Labels: rank, local_rank, "),
        ("rank=9", "No process has rank 9: there are rank 0-3."),
        ("pod=x", "No process has a label pod. Labels here: host, rank."),
        ("host=a3", "No process has host=a3. host: a1, a2."),
        ("in:load_bach", "No process's stack goes through `load_bach`. Do you mean load_batch?"),
        ("in:xyzzy", "No process's stack goes through `xyzzy`. Functions: all_reduce, main, load_batch."),
        ("s-9", "There is no process s-9. Sessions: s-2, s-3, s-4, s-5."),
        ("stoped", "'stoped' is not a group, and no process is called so. A group is "),
        ("stopped,rank=3", "No process is in all parts of the group: 1 by stopped, 1 by rank=3."),
    ],
)
def test_what_means_no_process_is_refused_with_what_is_near_or_there(text: str, said: str) -> None:
    with pytest.raises(UsageError) as refused:
        chosen(text)
    assert refused.value.code == "INVALID_PARAMETER"
    assert refused.value.message.startswith(said), refused.value.message


def test_where_all_are_alike_none_is_odd_and_none_stopped() -> None:
    alike = [member(0), member(1)]
    for text, said in [("odd", "None of the 2 processes differs"), ("stopped", "No process is stopped")]:
        with pytest.raises(UsageError, match=said):
            selected(parsed(text), alike)


def test_a_range_may_be_far_longer_than_the_job_and_its_gaps_are_named_as_far_as_they_fit() -> None:
    odd = [GroupMember(f"s-{n}", {"rank": str(2 * n)}) for n in range(1000)]
    found = selected(parsed("rank=0-999999999"), odd)
    assert len(found.ids) == 1000
    (missing,) = found.missing
    assert missing == ("no process has rank 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23 and 988 more ranges")
