"""The stacks of all threads of many processes as one tree: what is common to many stands once, with who has it. Pure.

    tree = merged(processes)                # branches, each before those that it calls, the rarest first
    tree_lines(places, tree)                # `32 <module> app.py:40 > main :33`
    tree_data(tree)                         # the same for programs

Frames of libraries are left out of stacks that have others.
"""

from collections.abc import Iterable, Sequence

from msgspec import Struct

from trio_debugmcp.server.answers.fleet.fleet_classes import ProcessNow, named
from trio_debugmcp.server.answers.places import Places
from trio_debugmcp.state.model import StackFrame
from trio_debugmcp.state.payloads import Location, Payload

_CHAIN = 3
"""Frames at either end of a chain of calls that is common to processes; those between are counted."""

MOST_BRANCHES = 500
"""Branches that programs are given; the others are counted. Of a thousand processes that compute each has one."""

_FEW = 8
"""Processes of a branch whose sessions are said."""


class StackBranch(Struct, frozen=True):
    """A chain of calls that the same processes have.

    Attributes:
        depth: how many branches lead to it.
        file: of what calls it.
    """

    depth: int
    frames: Sequence[StackFrame]
    members: Sequence[ProcessNow]
    file: str | None


class FrameData(Payload, frozen=True):
    """A function of a branch, and where in it the processes are."""

    name: str
    location: Location


class StackBranchData(Payload, frozen=True):
    """A chain of calls, the outermost first, `depth` branches below the root, and which processes have it.

    `sessionIds`: of some of them, where they are few.
    """

    depth: int
    count: int
    who: str
    frames: list[FrameData]
    session_ids: list[str]


class _Node:
    """A frame with the processes that have it there, by their ids, and what they call from it."""

    def __init__(self, frame: StackFrame) -> None:
        self.frame = frame
        self.members = dict[str, ProcessNow]()
        self.calls = dict[object, _Node]()


def merged(processes: Iterable[ProcessNow]) -> list[StackBranch]:
    """Return the branches of the tree in the order in which they are read."""
    roots = dict[object, _Node]()
    for process in processes:
        for stack in (process.stack, *process.others):
            nodes = roots
            for frame in reversed([frame for frame in stack if frame.is_user_code] or stack[:1]):
                key = (frame.name, frame.location.file, frame.location.line)
                node = nodes.setdefault(key, _Node(frame))
                node.members[process.id] = process
                nodes = node.calls
    return _branches(roots, 0, None)


def _branches(nodes: dict[object, _Node], depth: int, file: str | None) -> list[StackBranch]:
    found = list[StackBranch]()
    for node in sorted(nodes.values(), key=lambda each: len(each.members)):
        chain = [node]
        while len(calls := list(chain[-1].calls.values())) == 1 and len(calls[0].members) == len(node.members):
            chain.append(calls[0])
        found.append(StackBranch(depth, [each.frame for each in chain], [*node.members.values()], file))
        found += _branches(chain[-1].calls, depth + 1, chain[-1].frame.location.file)
    return found


def tree_lines(places: Places, tree: Iterable[StackBranch]) -> list[str]:
    """Return a line for each branch: how many processes have it, and what they call."""
    lines = list[str]()
    for branch in tree:
        frames = places.frames(branch.frames, branch.file)
        if len(frames) > 2 * _CHAIN:
            frames[_CHAIN:-_CHAIN] = [f"… {len(frames) - 2 * _CHAIN} more"]
        lines.append(f"{' ' * branch.depth}{len(branch.members)} {' > '.join(frames)}")
    return lines


def tree_data(tree: Sequence[StackBranch]) -> list[StackBranchData]:
    """Return the branches as data."""
    return [
        StackBranchData(
            depth=branch.depth,
            count=len(branch.members),
            who=named(branch.members),
            frames=[FrameData(frame.name, frame.location) for frame in branch.frames],
            session_ids=[each.id for each in branch.members[:_FEW]],
        )
        for branch in tree[:MOST_BRANCHES]
    ]
