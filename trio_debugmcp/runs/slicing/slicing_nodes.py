"""What a backward slice goes along: from a `SliceNode` by edges to the nodes that it depends on."""

import ast
from collections.abc import Iterator
from typing import NamedTuple

from trio_debugmcp.runs.slicing.wanted_pieces import NOTHING_WANTED, WantedPieces

OF_ANOTHER_ROUND = "in another round than the one asked about"
PERHAPS_OF_ANOTHER = f"perhaps {OF_ANOTHER_ROUND}"


class SliceNode(NamedTuple):
    """A run of a statement, as far as it matters.

    Attributes:
        row: its LINE row, or the START row of a call whose parameters matter.
        focus: the expressions of it that matter; empty: all.
        names: of a START row: the parameters that matter; of a line that takes a value apart: the name that does.
        hint: the value that is wanted, as text: of many calls those count first whose results are in it.
        wanted: the pieces that differ from what was expected: of many writes or calls those with them count.
        aim: what is asked of it: its `value`; `argument`: which object it has passed to a call; `run`: why it ran.
        aside: the rows of another round of what is asked about, if it is in one; empty: it is not.
        is_uncertain: it is not known whether that is another round.
    """

    row: int
    focus: tuple[ast.expr, ...] = ()
    names: tuple[str, ...] = ()
    aim: str = "value"
    hint: str = ""
    wanted: WantedPieces = NOTHING_WANTED
    aside: range = range(0)
    is_uncertain: bool = False

    @property
    def round_note(self) -> str:
        """What is said of the round that it is in; empty: it is the one asked about, or there are none."""
        return (PERHAPS_OF_ANOTHER if self.is_uncertain else OF_ANOTHER_ROUND) if self.aside else ""

    def is_item_of(self, statement: ast.AST) -> bool:
        """Whether it is one item of the tuple that a `return` gives: all of it, for who takes that apart."""
        value = statement.value if isinstance(statement, ast.Return) else None
        return isinstance(value, ast.Tuple) and len(self.focus) == 1 and self.focus[0] in value.elts


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

    def with_path(self, wanted: WantedPieces) -> "SliceEdge":
        """Return an edge along which a container is passed on as it is: the same item of it is wanted.

        One to what has made the holder of an item wants that item already: from there the way leads on.
        """
        whole = wanted._replace(path=(*self.node.wanted.path, *wanted.path))
        return self._replace(node=self.node._replace(wanted=whole)) if wanted.path else self

    def beside(self, following: "SliceEdge") -> "SliceEdge":
        """Return an edge from the node of this one, which stays in another round as long as its rows are in that."""
        if not self.node.aside or following.node.aside or following.node.row not in self.node.aside:
            return following
        node = following.node._replace(aside=self.node.aside, is_uncertain=self.node.is_uncertain)
        return following._replace(node=node)


def wanting(node: SliceNode, edges: Iterator[SliceEdge]) -> Iterator[SliceEdge]:
    """Yield edges along which the piece that differs is wanted, as it was in a node."""
    passed_on = node.wanted._replace(path=())
    for edge in edges:
        is_own = edge.node.wanted.pieces or edge.node.wanted.path
        yield edge if is_own else edge._replace(node=edge.node._replace(wanted=passed_on))


class ValueGap(NamedTuple):
    """A value that changed, and no line that was recorded has done it.

    Attributes:
        row: the LINE row that found it changed.
        before: the line of its last known value; 0: none.
        what: the value's path or place.
        opaque: the type of an object of which the content is not recorded at all; empty: it is.
        is_alike: it is the value that it was; a line that does not say where it writes may have written it again.
        is_shared: other objects have the same memory: a view, the array that it shows.
    """

    row: int
    before: int
    what: str
    is_alike: bool = False
    opaque: str = ""
    is_shared: bool = False


# Costs, as they did best on programs with planted faults. In small programs they hardly matter, in big runs they do.

# By data.
COPY = 0.25  # the value was passed on as it is
ARGUMENT = 0.3  # of a parameter: what the call gave it
RESULT = 0.4  # the line that ended a call
FOCUS = 0.6  # what the wanted part of a line has read
READ = 1.0  # what a line has read
GIVEN = 1.0  # more, for a constant of the module
CHANGE = 1.0  # what changed the content of an object
INNER = 1.3  # what changed the content of something in it
GIVEN_TO_MAKER = 1.0  # more, for what a call was given that has made an object: its attributes lead there, too
CARRIED = 1.0  # another statement that added to it
WANTED = 0.4  # of that: what has the piece that differs
ITEM = 0.3  # what has put the very item there that differs
TEXT = 0.1  # what has made the text that has the very place which differs
COMBINED = 0.6  # what has computed one of few items of which a line has made one value
UNWANTED = 1.6  # and what has not
BIRTH = 1.6  # what made it, if there were changes
HOLDER = 1.6  # of which object an attribute or item was read
RECURSION_END = 0.7  # a line that ended the innermost of the calls that a function made of itself
CALLBACK = 0.5  # what ended a function that a library has called meanwhile
CALLED_ON = 1.3  # a method of an object whose content is not recorded
FILE = 0.6  # what wrote the file that is read
USED = 0.8  # what took the items of a generator
CLASS = 1.2  # the class whose bases chose a method
OUTSIDE = 0.3  # a line that has set a variable of another frame
LOST_UPDATE = 0.4  # what was read, and written over, by threads and tasks that did not know of each other
REPLACED = 0.4  # what has put another function in the place of a method

# By control.
CONDITION = 1.0
CONDITION_OF_RETURN = 0.6
CONDITION_OF_LOOP = 0.6
CONDITION_OF_ITEM = 0.6  # of what has put something into a container: another one would have left it out
CONDITION_OF_CONSTANT = 0.15  # that it ran is all there is to know of a line
GUARD = 2.2  # a condition before that would have left, and did not
GUARD_OF_CONSTANT = 0.35
GUARD_OF_ITEM = 0.9  # of what has put something into a container
WAIT_ENDED = 0.6  # a loop that waits until it lets pass
CALLER = 2.5  # a traceback shows it already
COMPILED = 0.8  # what had the text of generated code compiled: its reads have written that text
RAISED = 0.4  # the first raise of an exception
RAISED_AGAIN = 0.5
PASSED_HANDLER = 1.2  # which has looked at it, and has not caught it

# By what did not happen.
ABSENCE = 1.2  # what decided against a write
SKIPPED_WRITE = 0.5  # of the very item, in a later call: nearer than the condition of the write that there was
WITHOUT_EFFECT = 0.8  # a call that was given a copy, or has made another value that is dropped
MISSING = 0.6  # what decided against it in the round of a value that is missing
AT_BOUND = 0.5  # a condition that left something out where both sides are equal
MISSING_CALL = 0.4  # the same in the very call that had it: before what other calls of the function have done
MISPLACED = 0.3  # another place got what the one that is asked about may lack
UNRAISED = 0.6  # what let pass that should have raised
UNFINISHED = 0.8  # what decided against the next call on an object that a function had begun to use
WAITING = 0.6  # what waits still, and what would have woken it
MEANWHILE = 0.6  # a loop that goes through what changes
PASSED_OVER = 0.1  # what took items out of the list that a loop was going through, so that it has missed others
ANOTHER = 1.4  # sets the attribute of another object
NAMESAKE = 0.8  # sets a variable of the same name, of another function
NOT_ANEW = 1.0  # where a value was set to begin with that a later round still had
LOOP_END = 1.0
STALE = 0.8  # what changed since a kept value was computed
SIBLING = 1.3  # what another round has read, which this one has not
OTHER_ROUND = 1.1  # a round that went another way
PARTING = 1.1  # where it parted from the others

STEP = 0.05  # each edge: of ways that cost the same, the shorter one
