"""What a backward slice goes along: from a `SliceNode` by edges to the nodes that it depends on."""

import ast
from typing import NamedTuple


class SliceNode(NamedTuple):
    """A run of a statement, as far as it matters.

    Attributes:
        row: its LINE row, or the START row of a call whose parameters matter.
        focus: the expressions of it that matter; empty: all.
        names: of a START row: the parameters that matter; of a line that takes a value apart: the name that does.
        hint: the value that is wanted, as text: of many calls those count first whose results are in it.
        aim: what is asked of it: its `value`; `argument`: which object it has passed to a call; `run`: why it ran.
    """

    row: int
    focus: tuple[ast.expr, ...] = ()
    names: tuple[str, ...] = ()
    aim: str = "value"
    hint: str = ""


class SliceEdge(NamedTuple):
    """A dependence.

    Attributes:
        cost: how far the node is behind; nearer ones are shown first.
        node: what it depends on.
        note: what the answer says beside that node.
    """

    cost: float
    node: SliceNode
    note: str = ""


class ValueGap(NamedTuple):
    """A value that changed, and no line that was recorded has done it.

    Attributes:
        row: the LINE row that found it changed.
        before: the row that has its last known value; 0: none.
        what: the value's path or place.
    """

    row: int
    before: int
    what: str


COPY = 0.25
ARGUMENT = 0.3
RESULT = 0.4
READ = 1.0
GIVEN = 1.0
RAISED_AGAIN = 0.5
OTHER_ROUND = 1.1
FOCUS = 0.6
CHANGE = 1.0
BIRTH = 1.6
CONDITION = 1.0
CONDITION_OF_LOOP = 0.6
CONDITION_OF_CONSTANT = 0.15
GUARD = 2.2
GUARD_OF_CONSTANT = 0.35
LOOP_END = 1.0
ABSENCE = 1.2
STALE = 0.8
CALLER = 2.5
RAISED = 0.4
HOLDER = 1.6
USED = 0.8
CLASS = 1.2
REPLACED = 0.4
CALLED_ON = 1.3
STEP = 0.05
"""Costs, as they won on programs with planted faults; in small programs they hardly matter, in big runs they do."""
