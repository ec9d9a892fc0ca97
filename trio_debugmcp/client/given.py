"""Checks of what a caller passes to a request, so that a mistake is not taken for a fault of the server."""

from trio_debugmcp.errors import UsageError


def need_text(value: object, name: str) -> None:
    """Check that an argument is a string, and not an empty one.

    Raises:
        UsageError: it is not.
    """
    if not isinstance(value, str) or not value:
        raise UsageError("INVALID_PARAMETER", f"`{name}` must be a string, not {value!r}")


def need_json(value: object, name: str) -> None:
    """Check that an argument can be sent as JSON, and is an object or nothing.

    Raises:
        UsageError: it is not.
    """
    from pydantic_core import PydanticSerializationError, to_jsonable_python  # as the SDK: it costs start-up time

    try:
        sent = to_jsonable_python(value)
    except (PydanticSerializationError, ValueError, RecursionError) as error:
        raise UsageError("INVALID_PARAMETER", f"`{name}` cannot be sent as JSON: {error}") from error
    if not isinstance(sent, dict | None):
        raise UsageError("INVALID_PARAMETER", f"`{name}` must be a mapping with string keys, not {value!r}")
