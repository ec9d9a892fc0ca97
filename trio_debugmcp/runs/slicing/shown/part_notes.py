"""What is said beside a line of an answer: the same of several lines once, and what says less gives way."""

import re

_NOT_SET = re.compile(r"(?P<what>so .+ at) lines? (?P<lines>[\d, ]+)(?P<rest>)")
_NOT_RUN = re.compile(r"(?P<what>so) lines? (?P<lines>[\d, ]+) (?:does|do) not run(?P<rest>.*)")
"""What is said of lines that were not reached."""


_SETS_ANOTHER = "sets another attribute than "
"""Said by a loop that sets all attributes of an object of each of them: the first one is what is asked about."""


def _unreached(note: str) -> re.Match[str] | None:
    return _NOT_SET.fullmatch(note) or _NOT_RUN.fullmatch(note)


def add_note(notes: list[str], note: str) -> None:
    """Add what is said beside a line: what says less gives way, and the same of several lines is said once."""
    same, more = _unreached(note), f"{note} "
    for place, said in enumerate(notes):
        known = _unreached(said)
        if note.startswith(_SETS_ANOTHER) and said.startswith(_SETS_ANOTHER):
            return
        if more.startswith(f"{said} "):
            notes[place] = note
        elif same is not None and known is not None and (known["what"], known["rest"]) == (same["what"], same["rest"]):
            lines = sorted({*known["lines"].split(", "), same["lines"]}, key=int)
            does = "" if same.re is _NOT_SET else f" {'do' if len(lines) > 1 else 'does'} not run{same['rest']}"
            notes[place] = f"{same['what']} line{'s' if len(lines) > 1 else ''} {', '.join(lines)}{does}"
        elif not f"{said} ".startswith(more):
            continue
        return
    if note:
        notes.append(note)
