"""`RecordedValues`: what names, attributes and items were when a statement of a recorded process ran.

    value = values.value(execution, path)           # what `path` was when it began
    value.row                                       # the row that gave it that value: a write, or where it was seen

A local variable is written by lines of its frame alone, so its last write is what a line reads. Everything else was
looked at when the line began, by the recorder: where it was not what the record knew, there is a GAP row.
"""

import ast
import re
from typing import NamedTuple

from trio_debugmcp.runs.files import process_record as rows
from trio_debugmcp.runs.files.process_record import DELETED, ProcessRecord, Row
from trio_debugmcp.runs.files.row_search import keys_of
from trio_debugmcp.runs.past.executions import StatementExecution, StatementExecutions
from trio_debugmcp.runs.past.recorded_scopes import RecordedScopes
from trio_debugmcp.runs.past.shared_cells import SharedCells
from trio_debugmcp.runs.source.read_paths import PathRead, ValuePath

FIELDS = frozenset({rows.FIELD, rows.SEEN, rows.GAP})
"""What tells the value of an attribute or an item."""

CONTENT = frozenset({rows.FIELD, rows.GAP, rows.SIZE})
"""What tells that the content of an object has changed."""

_UNWATCHED = 3
"""Key of a row SIZE of a container with many items."""

_COUNTED = re.compile(r"(\w+) of [\d,]+|(set|deque)\(.*")
"""The text of a container by its type and how much is in it, and of an empty set or a deque."""

_WITH_KEY = re.compile(r"""\{\w?(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|<[^>]*>|\([^)]*\)|[^'"<(,:}]*)\s*:""")
"""How the text of a dictionary begins, up to the colon behind the first key."""

_NAMED_CONTAINER = re.compile(r"(\w+)\((?:[\[{]|b['\"])")
"""How the text of one of another type begins: `deque([`, `Counter({`, `bytearray(b'`."""

_OBJECT, _FIELD = re.compile(r"<\w+ \w+="), re.compile(r"(?:^<\w+ |, )(\w+)=")
"""The text of an object with its fields, and the names of these; a name that it finds in a string is not among them."""

_CHANGEABLE = r"(?:\w+\()?(?:\[\]|\{\})\)?|set\(\)|(?!tuple|frozenset)\w+ of [\d,]+"
"""How a container that can be changed is said inside of another value."""

_NAMED_TUPLE = re.compile(r"[^\W\d]\w*\(\w+=")

_OF_TUPLE = re.compile(rf"=(?:{_CHANGEABLE})(?=[,)])")

_HAS_CHANGEABLE = re.compile(rf"[=\[ ](?:{_CHANGEABLE})(?=[,\]}}>)])")

_MOST_FIELD = 40

_TYPED = re.compile(r"<(?!class )(\w+)|(?!\d)(\w+)\(")

_MOST_ITEMS = 100

_MOST_CHANGES = 1_000
"""Of a container that are looked at one by one for what was in it."""


class RecordedValue(NamedTuple):
    """What a path was.

    Attributes:
        row: the row that has given it that value, or at which it was seen.
        kind: the kind of that row.
        text: the value as it is shown.
        object: the number of the object; 0 for an atom.
        owner: the LINE or START row that the row belongs to.
    """

    row: int
    kind: int
    text: str
    object: int
    owner: int


def type_name(text: str) -> str:
    """Return the name of an object's type, by how records show it: `Cart` of `<Cart id=2>`, and of `Cart(2)`."""
    found = _TYPED.match(text)
    return (found[1] or found[2]) if found is not None else ""


def says_nothing(text: str) -> bool:
    """Whether a value is a function, class or module: its name is in the source already."""
    return text.startswith(("<function ", "<class ", "<module ", "<bound method ", "<built-in "))


def never_changes(text: str) -> bool:
    """Whether a value of no recorded class is written out, and has nothing in it that can change: a path, a date."""
    return text[:1] != "<" or text.startswith(("<date", "<time"))


def is_whole(text: str) -> bool:
    """Whether the text of a tuple has all that is in it: then it is the key that it is."""
    return text[:1] == "(" and not any(sign in text for sign in ("…", "<", " of "))


def of_tuple(value: RecordedValue, label: str) -> RecordedValue | None:
    """Return an item of a tuple that is written out in its text: a record has no row of it, it came with the tuple."""
    if label[:1] != "[" or not is_whole(value.text):
        return None
    try:
        item = ast.literal_eval(value.text)[int(label[1:-1])]
    except (ValueError, SyntaxError, TypeError, IndexError):
        return None
    return value._replace(text=repr(item), object=0)


def container_word(text: str) -> str:
    """Return the name of the type of a container that can be changed, by its text; empty: of another value."""
    if text[:1] == "[":
        return "list"
    if text[:1] == "{":
        return "dict" if text == "{}" or _WITH_KEY.match(text) else "set"
    counted = _NAMED_CONTAINER.match(text) or _COUNTED.fullmatch(text)
    return next(filter(None, counted.groups())) if counted else ""


class RecordedValues:
    """The values of one process: names, fields, items, contents and what made them, hence so many methods."""

    def __init__(self, record: ProcessRecord, scopes: RecordedScopes, executions: StatementExecutions) -> None:
        self._record = record
        self._scopes = scopes
        self._executions = executions
        self._cells = SharedCells(record, scopes, executions, self.read)

    def bound(self, execution: StatementExecution, read: PathRead) -> int:
        """Return the row before which a read of a statement has happened."""
        is_later = read.is_rebound or (read.after > 0 and bool(self._executions.calls(execution.row)))
        return self._executions.ended(execution.row) if is_later else self._executions.settled(execution.row)

    def read(self, execution: StatementExecution, read: PathRead) -> RecordedValue | None:
        """Return what a statement read; its own writes come after that, but for those of `:=`."""
        value = self.value(execution, read.path, self.bound(execution, read))
        if value is not None and read.path.name == self._executions.unbound(execution.row):
            return None
        is_own = value is not None and value.owner == execution.row and value.kind in (rows.WRITE, rows.FIELD)
        if is_own and not read.is_rebound:
            return self.value(execution, read.path, self._executions.settled(execution.row))
        return value

    def value(self, execution: StatementExecution, path: ValuePath, before: int = 0) -> RecordedValue | None:
        """Return what a path was before a row, by default when the statement began; None if that is not known."""
        before = before or self._executions.settled(execution.row)
        value = self.name(execution, path.name, before)
        for step in path.steps:
            if value is None or not value.object:
                return None
            label = self.label_of(execution, step, before)
            label = self.kept_under(value, label, before) if label is not None else None
            if label is None or self._is_computed(value, label):
                return None
            value = self.field(value.object, label, before) or of_tuple(value, label)
        return value

    def _is_computed(self, value: RecordedValue, label: str) -> bool:
        """Whether an attribute is a property, whatever stands under its name in the instance."""
        return label[:1] == "." and self._scopes.has_property(type_name(value.text), label[1:])

    def label_of(self, execution: StatementExecution, step: str | ValuePath, before: int = 0) -> str | None:
        """Return a step of a path as the label that a record has for it; None: it is not known which item it was."""
        if isinstance(step, str):
            return step
        value = self.value(execution, step, before)
        if value is None or (value.object and not is_whole(value.text)):
            return None
        return f"[{value.text}]"

    def kept_under(self, holder: RecordedValue, label: str, before: int) -> str | None:
        """Return the label that a record has for an item: of one counted from the end of a list that of its place.

        A tuple is not counted, and a dictionary may have a negative key. None: the list has not as many items.
        """
        is_negative = label[:2] == "[-" and label[2:-1].isdigit()
        if not is_negative or holder.text[:1] == "(" or self.field(holder.object, label, before) is not None:
            return label
        place = int(label[2:-1])
        size = self._record.back_of(frozenset({rows.SIZE}), holder.object, before)
        length = self._record.row(size).text if size else 0
        return f"[{length - place}]" if length >= place else None

    def field(self, owner: int, label: str, before: int) -> RecordedValue | None:
        """Return what an attribute or item of an object was."""
        key = self._record.key_of(label)
        if not key:
            return None
        number = self._record.back_any(FIELDS, (key,), owner, before)
        return self.value_at(number) if number else None

    def name(self, execution: StatementExecution, name: str, before: int) -> RecordedValue | None:
        """Return what a name was in the frame of an execution."""
        home = execution.scope.home(name)
        key = self._record.key_of(name)
        if home is None:
            module = self._record.code(execution.code).globals
            return self.field(module, f".{name}", before)
        if not key:
            return None
        if home is execution.scope:
            number = self._cells.of_own(execution, name, key, before)
        else:
            number = self._cells.of_outer(execution, home, name, key, before)
        return self.value_at(number) if number else None

    def items(self, container: int, before: int) -> list[int]:
        """Return the objects in a container, as far as they were seen, the last ones first.

        Of one that has changed very often: those that it had last, under each of its keys.
        """
        items: list[int] = []
        number = self._record.back_of(FIELDS, container, before)
        for _ in range(_MOST_CHANGES):
            if not number or len(items) >= _MOST_ITEMS:
                return items
            row = self._record.row(number)
            if row.object and row.object not in items:
                items.append(row.object)
            number = self._record.back_of(FIELDS, container, number)
        return self._last_items(container, before) or items

    def _last_items(self, container: int, before: int) -> list[int]:
        """Return the objects that were last under the keys of a container; none of one with very many keys."""
        keys = keys_of(self._record, FIELDS, container, before)
        if len(keys) > _MOST_CHANGES:
            return []
        last = sorted((self._record.back_any(FIELDS, (key,), container, before) for key in keys), reverse=True)
        objects = (self._record.row(number).object for number in last if number)
        return list(dict.fromkeys(item for item in objects if item))[:_MOST_ITEMS]

    def first_raise(self, exception: int) -> int:
        """Return the row at which an exception was raised first; 0 if that was not recorded."""
        number = self._record.forth_of(rows.WITH_VALUE, exception, 0, by_value=True) if exception else 0
        while number and self._record.row(number).kind != rows.RAISE:
            number = self._record.forth_of(rows.WITH_VALUE, exception, number, by_value=True)
        return number

    def is_during(self, gap: Row) -> bool:
        """Whether a change by nothing that is recorded happened while its line ran, and not before it began."""
        return bool(gap.owner) and gap.number >= self._executions.settled(gap.owner)

    def text_at(self, value: RecordedValue, before: int) -> str:
        """Return a value as text; of one that has been changed since that text was kept: how much is in it, its fields.

        What the record does not show of that moment is left out, as `…`.
        """
        if before > value.row + 1 and _NAMED_TUPLE.match(value.text):  # no record has items of a named tuple
            return _OF_TUPLE.sub("=…", value.text)
        if not self._has_changed(value, before):
            return value.text
        if _OBJECT.match(value.text):
            return self._fields_at(value, before)
        word = container_word(value.text)
        size = self._record.back_of(frozenset({rows.SIZE}), value.object, before) if word else 0
        return f"{word} of {self._record.row(size).text}" if size else value.text

    def _has_changed(self, value: RecordedValue, before: int) -> bool:
        """Whether an object, or a container in it that its text has, has changed since that text was kept."""
        if not value.object:
            return False
        inner = self.items(value.object, before) if _HAS_CHANGEABLE.search(value.text) else []
        last = (self._record.back_of(CONTENT, number, before) for number in (value.object, *inner))
        changes = (self._record.row(number) for number in last if number > value.row)
        # That line has looked at it first: its length was found, and not changed.
        return any((row.kind, row.key, row.owner) != (rows.SIZE, 0, value.owner) for row in changes)

    def _fields_at(self, value: RecordedValue, before: int) -> str:
        names = dict.fromkeys(_FIELD.findall(value.text))
        fields = {name: self.field(value.object, f".{name}", before) for name in names}
        known = {name: field for name, field in fields.items() if field is not None}
        said = []
        for name, field in known.items():
            if self._record.row(field.row).text == DELETED:
                continue
            is_object = _OBJECT.match(field.text) or _NAMED_TUPLE.match(field.text)
            text = f"<{type_name(field.text)}>" if is_object else self.text_at(field, before)
            said.append(f"{name}={text if len(text) <= _MOST_FIELD else f'{text[:_MOST_FIELD]}…'}")
        is_whole = len(known) == len(names) and "…" not in value.text
        return f"<{type_name(value.text)} {', '.join([*said, *([] if is_whole else ['…'])])}>"

    def is_big(self, container: int, before: int) -> bool:
        """Whether a container has so many items that only those are looked at that a line names."""
        return self._record.back(rows.SIZE, _UNWATCHED, container, before) > 0

    def birth(self, number: int, before: int) -> int:
        """Return the LINE or START row of what first wrote or returned an object before a row; 0: not recorded."""
        found = self._record.forth_of(rows.WITH_VALUE, number, 0, by_value=True) if number else 0
        while found and found < before:
            row = self._record.row(found)
            if row.kind in (rows.WRITE, rows.FIELD, rows.RETURN, rows.YIELD) and row.owner:
                return row.owner
            came_with = row.kind == rows.SEEN and row.owner and row.owner == self.birth(row.subject, found)
            if came_with or (row.kind == rows.GAP and self.is_during(row)):  # with what it is in
                return row.owner
            found = self._record.forth_of(rows.WITH_VALUE, number, found, by_value=True)
        return 0

    def parameter(self, start: Row, name: str) -> RecordedValue | None:
        """Return what a parameter was when a call began."""
        key = self._record.key_of(name)
        number = self._record.forth(rows.WRITE, key, start.subject, start.number) if key else 0
        return self.value_at(number) if number and self._record.row(number).owner == start.number else None

    def value_at(self, number: int) -> RecordedValue:
        """Return the value that a row tells."""
        row = self._record.row(number)
        return RecordedValue(number, row.kind, self._record.text(row), row.object, row.owner)
