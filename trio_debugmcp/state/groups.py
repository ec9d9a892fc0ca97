"""Which processes a group means: `all`, `stopped`, `odd`, `in:load_batch`, `rank=0-7`, `s-3`, or several. Pure.

    group = parsed("rank=0-7, host=a1, stopped")
    group.needs_stacks                          # False: `in:…` and `odd` do
    chosen = selected(group, members)           # those on a1 with a rank up to 7 that are stopped
    chosen.ids, chosen.missing                  # "s-2" …, and what was named that is not there

Terms of one kind are alternatives (`rank=3, rank=5`, `s-3, s-7`); of several kinds all have to hold. A term without a
label belongs to the label before it, as in `rank 0-2, 7`: so what an answer says of a class can be passed as it stands.
"""

import re
from collections.abc import Callable, Iterable, Sequence

from msgspec import Struct

from trio_debugmcp.dap.profiles.near_names import named_alike
from trio_debugmcp.errors import UsageError
from trio_debugmcp.state.labels import MOST_NUMBER, NAMES, NUMBERS, Labels, in_ranges, short_label
from trio_debugmcp.state.payloads import printable, shortened

WORDS = ("all", "stopped", "running", "odd")
"""Terms that are a word: every process, by its state, or those whose stack is not that of the most."""

FORMS = "`all`, `stopped`, `running`, `odd`, `in:FUNCTION`, a label such as `rank=0-7`, or sessions such as `s-3,s-7`"

_SESSION, _LABELLED = re.compile(r"s-\d+"), re.compile(r"(\w+)\s*[=:]\s*(.+)|(\w+)\s+(\S+)")
_RANGE, _ANY_RANGE = re.compile(r"(\d{1,9})(?:\s*-\s*(\d{1,9}))?"), re.compile(r"\d+(\s*-\s*\d+)?")

_MOST_NAMED = 12
"""Values that an error names; of more it has the number."""


class GroupMember(Struct, frozen=True):
    """A process as far as groups ask about it.

    Attributes:
        functions: those that the stacks of its threads go through.
        is_odd: its stack is not that of the most.
    """

    id: str
    labels: Labels = {}
    is_stopped: bool = False
    functions: frozenset[str] = frozenset()
    is_odd: bool = False


class Term(Struct, frozen=True):
    """A part of a group. `kind`: `all`, `state`, `odd`, `in`, `session`, `name`, or the label it is about."""

    kind: str
    value: str

    @property
    def words(self) -> str:
        """The term as it is written."""
        match self.kind:
            case "in":
                return f"in:{self.value}"
            case kind if kind in NAMES:
                return f"{kind}={self.value}"
        return self.value


class ProcessGroup(Struct, frozen=True):
    """What a group says, term by term."""

    terms: tuple[Term, ...]

    @property
    def needs_stacks(self) -> bool:
        """Whether the stacks of the processes have to be known."""
        return any(term.kind in ("in", "odd") for term in self.terms)


class Chosen(Struct, frozen=True):
    """The ids of the processes of a group, and what it names that is not there, in words."""

    ids: tuple[str, ...]
    missing: tuple[str, ...] = ()


# --- What it says -----------------------------------------------------------------------------------------------------


def parsed(text: str) -> ProcessGroup:
    """Return what a group says.

    Raises:
        UsageError: `INVALID_PARAMETER`: a part of it is none of the `FORMS`.
    """
    terms: list[Term] = []
    for part in filter(None, map(str.strip, text.split(","))):
        terms.append(_term(part, terms[-1].kind if terms else None))
    if not terms:
        raise _refused(f"A group is {FORMS}.")
    return ProcessGroup(tuple(terms))


def _term(part: str, before: str | None) -> Term:
    word = part.lower()
    if word in WORDS:
        return Term(word if word in ("all", "odd") else "state", word)
    if _SESSION.fullmatch(word):
        return Term("session", word)
    found = _LABELLED.fullmatch(part)
    label, value = (None, part) if found is None else (found[1] or found[3], found[2] or found[4])
    if label == "in":
        return Term("in", value.strip("`() "))
    if label in NAMES:
        return _of_label(label, value.strip())
    if found is not None and found[1]:
        near = named_alike(found[1], {name: name for name in NAMES})
        meant = f" Do you mean {' or '.join(near)}?" if near else ""
        raise _refused(f"No label is called '{shortened(found[1])}'.{meant} Labels: {', '.join(NAMES)}.")
    return _of_label(before, part) if before in NAMES else Term("name", part)


def _of_label(label: str, value: str) -> Term:
    if label not in NUMBERS:
        return Term(label, value)
    found = _RANGE.fullmatch(value)
    if found is None and _ANY_RANGE.fullmatch(value):
        raise _refused(
            f"{label}={shortened(value)} is beyond {MOST_NUMBER}, which no {label} is: a range is {label}=0-7."
        )
    if found is None:
        raise _refused(f"{label} is a number or a range, as {label}=3 or {label}=0-7, not '{shortened(value)}'.")
    if found[2] and int(found[1]) > int(found[2]):
        raise _refused(f"{label}={value} is empty: a range begins with its least, as {label}={found[2]}-{found[1]}.")
    return Term(label, value)


# --- Which these are --------------------------------------------------------------------------------------------------


def selected(group: ProcessGroup, members: Sequence[GroupMember]) -> Chosen:
    """Return the members of a group; there is at least one.

    Raises:
        UsageError: `INVALID_PARAMETER`: there is none, or a term names what is not there.
    """
    kinds: dict[str, set[str]] = {}
    missing: list[str] = []
    for term in group.terms:
        found = {member.id for member in members if _holds(term, member)}
        if not found:
            raise _none_of(term, members)
        missing += _without_process(term, members)
        kinds.setdefault(term.kind, set()).update(found)
    those = tuple(member.id for member in members if all(member.id in found for found in kinds.values()))
    if not those:
        counts = ", ".join(f"{len(found)} by {_words(group, kind)}" for kind, found in kinds.items())
        raise _refused(f"No process is in all parts of the group: {counts}.")
    return Chosen(those, tuple(missing))


def _words(group: ProcessGroup, kind: str) -> str:
    return ", ".join(term.words for term in group.terms if term.kind == kind)


def _holds(term: Term, member: GroupMember) -> bool:
    match term.kind:
        case "all":
            return True
        case "state":
            return member.is_stopped == (term.value == "stopped")
        case "odd":
            return member.is_odd
        case "in":
            return any(_is_called(function, term.value) for function in member.functions)
        case "session":
            return member.id == term.value
        case "name":
            return short_label(member.labels) == term.value
    own = member.labels.get(term.kind)
    if own is None or term.kind not in NUMBERS:
        return own == term.value
    return int(own) in _numbers(term.value)


def _numbers(value: str) -> range:
    first, _, last = value.partition("-")
    return range(int(first), int(last or first) + 1)


def _is_called(function: str, wanted: str) -> bool:
    return function == wanted or function.endswith(f".{wanted}")


def _without_process(term: Term, members: Iterable[GroupMember]) -> list[str]:
    """Return what numbers of a range no process has."""
    if term.kind not in NUMBERS:
        return []
    there = {int(member.labels[term.kind]) for member in members if term.kind in member.labels}
    wanted, gaps = _numbers(term.value), list[str]()
    first = wanted.start
    for number in [*sorted(number for number in there if number in wanted), wanted.stop]:
        if number > first:
            gaps.append(str(first) if number == first + 1 else f"{first}-{number - 1}")
        first = number + 1
    more = f" and {len(gaps) - _MOST_NAMED} more ranges" if len(gaps) > _MOST_NAMED else ""
    return [f"no process has {term.kind} {', '.join(gaps[:_MOST_NAMED])}{more}"] if gaps else []


# --- What there is instead --------------------------------------------------------------------------------------------


def _none_of(term: Term, members: Sequence[GroupMember]) -> UsageError:
    """Return the error for a term that no process fulfils, with what is near it, or what there is."""
    match term.kind:
        case "state":
            return _refused(f"No process is {term.value}: there are {len(members)}, and none of them.")
        case "odd":
            return _refused(
                f"None of the {len(members)} processes differs from the most: their stacks are equal, or no class of "
                "equal ones is the largest. fleet_state has the classes."
            )
        case "in":
            return _near(
                f"No process's stack goes through `{term.value}`.", term.value, "Functions", _functions, members
            )
        case "session":
            return _near(f"There is no process {term.value}.", term.value, "Sessions", lambda each: [each.id], members)
        case "name":
            said = f"'{shortened(term.value)}' is not a group, and no process is called so. A group is {FORMS}."
            return _near(said, term.value, "Processes", _called, members, WORDS)
    label = term.kind
    values = {each.labels[label] for each in members if label in each.labels}
    if not values:
        have = sorted({name for each in members for name in each.labels})
        return _refused(f"No process has a label {label}. Labels here: {', '.join(have) or 'none'}.")
    if label in NUMBERS:
        return _refused(f"No process has {label} {term.value}: there are {label} {in_ranges(map(int, values))}.")
    return _near(f"No process has {term.words}.", term.value, label, lambda each: [each.labels.get(label, "")], members)


def _functions(member: GroupMember) -> list[str]:
    return [function.rpartition(".")[2] for function in sorted(member.functions)]


def _called(member: GroupMember) -> list[str]:
    return [short_label(member.labels) or member.id]


def _near(
    said: str,
    wanted: str,
    what: str,
    names_of: Callable[[GroupMember], Iterable[str]],
    members: Sequence[GroupMember],
    words: Sequence[str] = (),
) -> UsageError:
    """Return the error with names, or `words`, that are like the wanted one; else with the names that there are."""
    names = list(dict.fromkeys(name for member in members for name in names_of(member) if name))
    near = named_alike(wanted, {name: name for name in (*words, *names)})
    if near:
        return _refused(f"{said} Do you mean {' or '.join(near)}?")
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return _refused(f"{said} {what}: {', '.join(map(printable, names[:_MOST_NAMED])) or 'none'}{more}.")


def _refused(sentence: str) -> UsageError:
    return UsageError("INVALID_PARAMETER", sentence, {"parameter": "group"})
