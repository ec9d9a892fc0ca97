"""`Answer`, the base of the structs that tools answer with: in words for a model, and as data for a program.

    answer = StackAnswer(frames=["main shop.py:31"], full=StackData(frames=[main], total=1, state="Suspended"))
    encoded(answer)    # {"frames": ["main shop.py:31"]}
    whole(answer)      # {"frames": [{"index": 0, "name": "main", "location": {…}, …}], "total": 1, …}

The words are made of the data, so that both say the same.
"""

import json
from collections.abc import Sequence
from typing import Any, ClassVar

import msgspec
from msgspec import Struct
from msgspec.structs import fields, replace

from trio_debugmcp.server.answers.last_bounds import MAX_ANSWER_BYTES, MAX_DATA_BYTES, bounded
from trio_debugmcp.server.call_result import ToolResult
from trio_debugmcp.state.payloads import Payload


class AnswerData(Payload, frozen=True, kw_only=True):
    """An answer as data: every key is there, as in resources.

    `same`: fields that are those of the answer in words, which has the last word on them.
    """

    same: ClassVar[tuple[str, ...]] = ("notes",)

    notes: list[str] = []


class Answer(Struct, rename="camel", frozen=True, kw_only=True, omit_defaults=True):
    """An answer: keys in camelCase, without those that have no news, which are the ones that have their defaults.

    `full`: the data that the words are made of; None where the keys of the answer are data themselves. It is not in the
    answer, but is what a call with `full` gets instead.
    """

    full: Payload | None = None


def with_notes(result: ToolResult, notes: Sequence[str]) -> ToolResult:
    """Return a result, also a failed one, with more `notes`."""
    body = json.loads(result.text) if result.structured_content is None else result.structured_content
    body = {**body, "notes": [*body.get("notes", []), *notes]}
    structured = None if result.structured_content is None else body
    return replace(result, text=_encoder.encode(body).decode(), structured_content=structured)


_encoder = msgspec.json.Encoder()


def encoded(answer: Answer, *, full: bool = False, most: int = MAX_ANSWER_BYTES) -> tuple[str, dict[str, Any]]:
    """Return an answer as text and as structured content. Hosts show a model one or the other, so they are the same.

    `full`: the answer as data; `most`: bytes of the words. Data, for programs and pages, may have more.
    """
    body = whole(answer) if full else _as_json(replace(answer, full=None))
    body.pop("full", None)  # of an answer that has data in any case
    text = _encoder.encode(body)
    most = max(most, MAX_DATA_BYTES) if full else most
    if len(text) > most:
        body = bounded(body, most)
        text = _encoder.encode(body)
    return text.decode(), body


def data_of(answer: Answer) -> Any:
    """Return the data of an answer that has some, also for data of which that is a part."""
    if not isinstance(answer.full, AnswerData):
        return answer.full
    return replace(answer.full, **{name: getattr(answer, name) for name in answer.full.same if hasattr(answer, name)})


def whole(answer: Answer) -> dict[str, Any]:
    """Return an answer as data, with every key."""
    body: dict[str, Any] = _with_every_key(answer) if answer.full is None else _as_json(data_of(answer))
    return body


def _as_json(value: Any) -> Any:
    """Return a value as JSON has it: each key is a text."""
    return msgspec.to_builtins(value, str_keys=True)


def _with_every_key(value: Any) -> Any:
    """Return the builtins of an answer, also those keys that have no news."""
    if isinstance(value, Answer):
        return {
            field.encode_name: _with_every_key(getattr(value, field.name))
            for field in fields(value)
            if field.name != "full"
        }
    if isinstance(value, list | tuple):
        return [_with_every_key(each) for each in value]
    return _as_json(value)
