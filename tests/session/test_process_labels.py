"""The labels of a process: what it has itself, and not what it has of the server."""

from trio_debugmcp.dap.profiles.starts import ChildStart, Launch
from trio_debugmcp.probe.answers import ProcessMarks
from trio_debugmcp.session.host import Host
from trio_debugmcp.session.process_labels import ProcessLabels


class Process:
    """One of which is not known where it is."""

    is_here = False
    pid: int | None = None


def test_what_a_child_has_of_the_server_is_not_a_label_though_it_was_there_before_its_parent_said_it() -> None:
    parent = ProcessLabels(Launch("/job/train.py"), Process(), Host(), None)
    child = ProcessLabels(ChildStart("attach", {}), Process(), Host(), parent)
    given = {"PYTEST_XDIST_WORKER": "gw1"}
    assert parent.of(ProcessMarks(variables=given)) == {}
    assert child.of(ProcessMarks(variables=given)) == {}
    assert child.of(ProcessMarks(variables={**given, "RANK": "1"}, own=("RANK",))) == {"rank": "1"}


def test_a_program_that_starts_itself_again_and_again_has_the_labels_of_its_first_process() -> None:
    first = last = ProcessLabels(Launch("/job/train.py"), Process(), Host(), None)
    for _ in range(2000):
        last = ProcessLabels(ChildStart("attach", {}), Process(), Host(), last)
    assert last.of(ProcessMarks(variables={"RANK": "1"})) == {"rank": "1"}
    first.of(ProcessMarks(variables={"RANK": "1"}))
    assert last.of(ProcessMarks(variables={"RANK": "1"})) == {}
