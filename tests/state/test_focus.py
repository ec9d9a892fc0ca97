"""Which session is in focus after a stop, a resume, or an end."""

from msgspec.structs import replace

from tests.state.store import ORIGIN, Store
from trio_debugmcp.state.changes import (
    FocusMoved,
    ResumeRefused,
    SessionClosed,
    SessionOpened,
    SessionStarted,
)
from trio_debugmcp.state.reduce import MAX_ENDED
from trio_debugmcp.state.resources import (
    MODULES,
    SESSION,
    STACK,
    THREADS,
)


def test_a_child_session_changes_the_parents_payload_and_leaves_the_focus() -> None:
    store = Store("s-1")
    assert store.open("s-2", "s-1") == {SESSION}
    assert store.state.focus == "s-1"


def test_the_program_of_a_session_that_only_launches_has_the_focus_beside_another_program() -> None:
    store = Store("s-1")
    store.merge(SessionOpened("s-2", replace(ORIGIN, launches=True)))
    store.open("s-3", "s-2")
    assert store.state.focus == "s-1"
    store.merge(SessionStarted("s-2"))
    assert store.state.focus == "s-3"
    assert [each.id for each in store.state.shown] == ["s-1", "s-3"]
    store.merge(SessionClosed("s-3", "over"))
    assert (store.state.program_of("s-2"), store.state.program_of("s-1")) == ("s-2", "s-1")


def test_a_stop_takes_the_focus_from_a_session_that_runs() -> None:
    store = Store("s-1")
    store.open("s-2", "s-1")
    assert {SESSION, THREADS, STACK, MODULES} <= store.stop("s-2")
    assert store.state.focus == "s-2"


def test_a_stop_leaves_the_focus_at_a_paused_session() -> None:
    store = Store("s-1")
    store.open("s-2", "s-1")
    store.stop("s-1")
    assert store.stop("s-2") == {SESSION}
    assert store.state.focus == "s-1"


def test_a_stop_leaves_the_focus_at_a_session_that_is_stepping() -> None:
    store = Store("s-1")
    store.open("s-2", "s-1")
    store.stop("s-1")
    store.resume("s-1", "step")
    store.stop("s-2")
    assert store.state.focus == "s-1"
    store.stop("s-1")
    assert store.state.focus == "s-1"


def test_continuing_passes_the_focus_to_the_session_paused_longest() -> None:
    store = Store("s-1")
    store.open("s-2", "s-1")
    store.open("s-3", "s-1")
    for session_id in ("s-1", "s-3", "s-2"):
        store.stop(session_id)
    assert {SESSION, THREADS, STACK} <= store.resume("s-1")
    assert store.state.focus == "s-3"


def test_a_step_keeps_the_focus_though_another_session_is_paused() -> None:
    store = Store("s-1")
    store.open("s-2", "s-1")
    store.stop("s-1")
    store.stop("s-2")
    store.resume("s-1", "step")
    assert store.state.focus == "s-1"


def test_a_refused_continue_gives_the_focus_back() -> None:
    store = Store("s-1")
    store.open("s-2", "s-1")
    store.stop("s-1")
    store.stop("s-2")
    store.resume("s-1")
    assert store.state.focus == "s-2"
    store.merge(ResumeRefused("s-1", store["s-1"].generation))
    assert store.state.focus == "s-1"


def test_continuing_another_session_leaves_the_focus() -> None:
    store = Store("s-1")
    store.open("s-2", "s-1")
    store.open("s-3", "s-1")
    for session_id in ("s-1", "s-2", "s-3"):
        store.stop(session_id)
    store.resume("s-1", "step")
    store.stop("s-1")  # s-2 has been paused longer now
    store.resume("s-3")
    assert store.state.focus == "s-1"


def test_when_the_focused_child_ends_the_focus_goes_to_a_paused_session_else_to_the_parent() -> None:
    store = Store("s-1")
    store.open("s-2", "s-1")
    store.open("s-3", "s-2")
    store.stop("s-3")
    store.merge(SessionClosed("s-3", "over"))
    assert store.state.focus == "s-2"
    store.open("s-4", "s-2")
    store.stop("s-4")
    store.stop("s-1")
    store.merge(SessionClosed("s-4", "over"))
    assert store.state.focus == "s-1"


def test_the_focus_of_a_child_that_ends_with_its_parent_goes_to_the_grandparent() -> None:
    store = Store("s-1")
    store.open("s-2", "s-1")
    store.open("s-3", "s-2")
    store.stop("s-3")
    store.merge(SessionClosed("s-2", "over"))
    assert store.state.focus == "s-1"


def test_after_a_child_that_opened_when_its_parent_had_ended_no_session_or_the_first_left_has_the_focus() -> None:
    store = Store("s-1")
    store.merge(SessionClosed("s-1", "over"))
    store.open("s-3", "s-1")
    store.stop("s-3")
    store.merge(SessionClosed("s-3", "over"))
    assert store.state.focus is None
    store.open("s-4")
    store.open("s-5", "s-3")
    store.stop("s-5")
    store.merge(SessionClosed("s-5", "over"))
    assert store.state.focus == "s-4"


def test_the_end_of_another_session_leaves_the_focus() -> None:
    store = Store("s-1")
    for session_id in ("s-2", "s-3"):
        store.open(session_id, "s-1")
    store.stop("s-1")
    store.stop("s-2")
    store.resume("s-1", "step")
    store.merge(SessionClosed("s-3", "over"))
    assert store.state.focus == "s-1"


# --- Several programs -------------------------------------------------------------------------------------------------


def test_another_program_takes_the_focus_once_it_has_started() -> None:
    store = Store("s-1")
    store.merge(SessionOpened("s-2", ORIGIN))
    assert store.state.focus == "s-1"
    store.merge(SessionStarted("s-2"))
    assert store.state.focus == "s-2"


def test_a_child_that_starts_takes_no_focus_from_another_program() -> None:
    store = Store("s-1", "s-2")
    store.merge(SessionOpened("s-3", ORIGIN, "s-1"))
    store.merge(SessionStarted("s-3"))
    assert store.state.focus == "s-2"


def test_a_program_that_starts_leaves_the_focus_at_its_own_child_that_has_stopped() -> None:
    store = Store()
    store.merge(SessionOpened("s-1", ORIGIN))
    store.open("s-2", "s-1")
    store.stop("s-2")
    store.merge(SessionStarted("s-1"))
    assert store.state.focus == "s-2"


def test_continuing_passes_the_focus_to_no_other_program() -> None:
    store = Store("s-1", "s-2")
    store.open("s-3", "s-2")
    for session_id in ("s-1", "s-3", "s-2"):
        store.stop(session_id)
    store.merge(FocusMoved("s-2"))
    store.merge(FocusMoved("s-3"))
    assert store.state.focus == "s-2"  # an answer about the same program leaves the focus where it is
    store.resume("s-2")
    assert store.state.focus == "s-3"
    store.resume("s-3")
    assert store.state.focus == "s-3"


def test_the_end_of_a_child_leaves_the_focus_in_its_program() -> None:
    store = Store("s-1", "s-2")
    store.open("s-3", "s-2")
    store.stop("s-1")
    store.merge(FocusMoved("s-2"))
    store.stop("s-3")
    assert store.state.focus == "s-3"
    store.merge(SessionClosed("s-3", "over"))
    assert store.state.focus == "s-2"
    store.merge(SessionClosed("s-2", "over"))
    assert store.state.focus == "s-1"


def test_the_focus_moves_to_no_session_that_has_ended() -> None:
    store = Store("s-1", "s-2")
    store.merge(SessionClosed("s-1", "over"))
    store.merge(FocusMoved("s-1"))
    assert store.state.focus == "s-2"


def test_a_child_of_another_program_takes_no_focus_from_a_session_that_listens() -> None:
    store = Store("s-1")
    store.merge(SessionOpened("s-2", replace(ORIGIN, listens=True)))
    store.merge(SessionStarted("s-2"))
    store.open("s-3", "s-1")
    assert store.state.focus == "s-2"
    store.open("s-4", "s-2")
    assert store.state.focus == "s-4"


def test_the_root_is_that_of_the_session_in_focus() -> None:
    store = Store("s-1", "s-2")
    store.open("s-3", "s-2")
    store.open("s-4", "s-3")
    assert store.state.roots() == {"s-1": "s-1", "s-2": "s-2", "s-3": "s-2", "s-4": "s-2"}
    for focus, root in (("s-1", "s-1"), ("s-4", "s-2")):
        store.merge(FocusMoved(focus))
        assert (store.state.root or store["s-1"]).id == root


def test_the_last_ends_are_kept() -> None:
    store = Store()
    for number in range(MAX_ENDED + 2):
        store.open(f"s-{number}")
        store.merge(SessionClosed(f"s-{number}", "over", exit_code=number))
    ended = store.state.ended
    assert [each.exit_code for each in ended] == list(range(2, MAX_ENDED + 2))
    assert (store.state.last, store.state.end_of("s-5"), store.state.end_of("s-1")) == (ended[-1], ended[3], None)
