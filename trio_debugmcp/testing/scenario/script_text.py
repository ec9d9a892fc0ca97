"""Scenario files as text: strict decoding, encoding, and placeholders. Pure.

    scenario = decode_scenario(text, "stop.jsonl")
    encode_scenario(scenario) == text       # if that has the keys in this order

Errors name the file, the line, and what is allowed there.
"""

from collections.abc import Iterator
from functools import reduce
from pathlib import PurePath
from typing import Any

import msgspec

from trio_debugmcp.testing.scenario.script_lines import (
    AGENT,
    DIRECTORY,
    EVERYONE,
    NUMBER,
    ROOT,
    WORDS,
    AdapterLine,
    AskChild,
    BadScenario,
    Call,
    CancelCall,
    ClientLine,
    ConnectClient,
    ExpectAnswer,
    ExpectAsked,
    ExpectError,
    ExpectLine,
    ExpectListChanged,
    ExpectNothing,
    ExpectUpdated,
    LaunchProgram,
    Read,
    Scenario,
    ScriptLine,
    SetAnswer,
    Setting,
    Step,
)


def decode_scenario(text: str, name: str = "scenario") -> Scenario:
    """Decode a scenario. Empty lines are skipped.

    Raises:
        BadScenario: with the file's name, the line, and what is allowed there.
    """
    numbered = [(number, line) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
    if not numbered:
        raise BadScenario(f'{name}: it is empty; the first line is the setting: {{"scenario": "what it shows"}}')
    setting = _decode(f"{name}:{numbered[0][0]}", numbered[0][1], first=True)
    _check_files(f"{name}:{numbered[0][0]}", setting)
    steps = tuple(Step(number, _decode(f"{name}:{number}", line, first=False)) for number, line in numbered[1:])
    scenario = Scenario(name, setting, steps)
    _check_names(scenario)
    return scenario


def encode_scenario(scenario: Scenario) -> str:
    """Encode a scenario, one line for each step."""
    parts = [scenario.setting, *(step.line for step in scenario.steps)]
    return "".join(f"{msgspec.json.encode(_in_order(part)).decode()}\n" for part in parts)


def full_uri(uri: str) -> str:
    """Expand a short URI: `session` is `debugger://session`."""
    return uri if "://" in uri else f"debugger://{uri}"


def filled(line: Any, **replacements: str | int) -> Any:
    """Replace the placeholders (`DIR`, `N`) of a line or setting, in all its strings."""

    def fill(value: Any) -> Any:
        match value:
            case str():
                if value == NUMBER and "N" in replacements:
                    return replacements["N"]
                return reduce(lambda text, item: text.replace(f"${item[0]}", str(item[1])), replacements.items(), value)
            case dict():
                return {fill(key): fill(member) for key, member in value.items()}
            case list() | tuple():
                return [fill(element) for element in value]
            case _:
                return value

    kind = type(line)
    tag = kind.__struct_config__.tag_field
    raw = {
        key: getattr(line, name)
        for key, name in zip(kind.__struct_encode_fields__, kind.__struct_fields__, strict=True)
    }
    whole = fill(msgspec.to_builtins(raw)) | ({tag: kind.__struct_config__.tag} if tag else {})
    return msgspec.convert(whole, kind)


def _decode(where: str, text: str, *, first: bool) -> Any:
    raw = _object(where, text)
    if first or "scenario" in raw:
        if not first or "scenario" not in raw:
            raise BadScenario(f"{where}: the key `scenario` belongs to the first line, the setting, and to no other")
        return _convert(where, raw, Setting, "the setting")
    speakers = [speaker for speaker in WORDS if speaker in raw]
    if len(speakers) != 1:
        difference = f"not {' and '.join(speakers)}" if speakers else f"it has {_listed(raw)}"
        raise BadScenario(f"{where}: a line has exactly one of the keys {_listed(WORDS)}; {difference}")
    words, word = WORDS[speakers[0]], raw[speakers[0]]
    kind = words.get(word) if isinstance(word, str) else None
    if kind is None:
        raise BadScenario(f"{where}: `{speakers[0]}` is one of {_listed(words)}, not {word!r}")
    line = _convert(where, raw, kind, f'"{speakers[0]}": "{word}"')
    if line.at is not None and line.after is not None:
        raise BadScenario(f"{where}: `at` and `after` exclude each other")
    return line


def _object(where: str, text: str) -> dict[str, Any]:
    try:
        raw = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise BadScenario(f"{where}: not JSON: {error}") from None
    if not isinstance(raw, dict):
        raise BadScenario(f"{where}: a line is a JSON object")
    return raw


def _convert(where: str, raw: dict[str, Any], kind: type[Any], what: str) -> Any:
    allowed = _keys(kind)
    unknown = [key for key in raw if key not in allowed]
    if unknown:
        raise BadScenario(f"{where}: {what} has no key {_listed(unknown)}; there are {_listed(allowed)}")
    try:
        return msgspec.convert(raw, kind)
    except (msgspec.ValidationError, RecursionError) as error:
        raise BadScenario(f"{where}: {what}: {error}") from None


def _keys(kind: type[Any]) -> list[str]:
    tag = kind.__struct_config__.tag_field
    return [*([tag] if tag else []), *kind.__struct_encode_fields__]


def _in_order(part: Any) -> dict[str, Any]:
    """Order the keys of a line: the time, the key with the word, the rest, a note."""
    raw: dict[str, Any] = msgspec.to_builtins(part)
    tag = type(part).__struct_config__.tag_field
    first = [key for key in ("at", "after", tag) if key in raw]
    rest = [key for key in raw if key not in (*first, "note")]
    return {key: raw[key] for key in [*first, *rest, *(["note"] if "note" in raw else [])]}


def _listed(words: Any) -> str:
    return ", ".join(f"`{word}`" for word in words)


def _check_files(where: str, setting: Setting) -> None:
    for file in setting.files:
        path = PurePath(file)
        if path.is_absolute() or ".." in path.parts or path == PurePath() or "\0" in file:
            raise BadScenario(f"{where}: `files` are paths below {DIRECTORY}, not {file!r}")


def _check_names(scenario: Scenario) -> None:
    """Check that every client, adapter and call that a line names was introduced before it."""
    clients, adapters = {AGENT}, {ROOT}
    to_come = {step.line.name for step in scenario.steps if isinstance(step.line, AskChild)}
    calls: dict[str, set[str | None]] = {}
    for step in scenario.steps:
        line = step.line
        there = adapters | to_come if isinstance(line, SetAnswer) else adapters
        for what, name, names in _named(line, clients, there, calls):
            if name not in names:
                introduced = _listed(sorted(name for name in names if name is not None)) or "none"
                which = "" if name is None else f" `{name}`"
                raise BadScenario(
                    f"{scenario.name}:{step.number}: there is no {what}{which} yet; there are {introduced}"
                )
        match line:
            case ConnectClient(who=who):
                clients.add(who)
            case AskChild(name=name):
                adapters.add(name)
            case Call(who=who, name=name) | LaunchProgram(who=who, name=name) | Read(who=who, name=name):
                calls.setdefault(who, set()).update({name, None})
            case _:
                pass


def _named(
    line: ScriptLine, clients: set[str], adapters: set[str], calls: dict[str, set[str | None]]
) -> Iterator[tuple[str, str | None, Any]]:
    match line:
        case AdapterLine(who=who) | ExpectAsked(who=who):
            yield "adapter", who, adapters
        case ConnectClient():
            return
        case ExpectUpdated(who=who) | ExpectListChanged(who=who) | ExpectNothing(who=who):
            yield "client", who, {*clients, EVERYONE}
        case ClientLine(who=who) | ExpectLine(who=who):
            yield "client", who, clients
        case _:
            return
    match line:
        case CancelCall(who=who, of=of) | ExpectAnswer(who=who, of=of) | ExpectError(who=who, of=of):
            yield "call", of, calls.get(who, set())
        case _:
            return
