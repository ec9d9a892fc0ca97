"""Messages as they are on the wire."""

from typing import Any

from mcp.shared.message import SessionMessage


def plain(item: SessionMessage) -> dict[str, Any]:
    """The message as it is on the wire; parameters and results are the same objects, not copies."""
    message = item.message
    fields = {name: getattr(message, name) for name in type(message).model_fields if name in message.model_fields_set}
    if (error := fields.get("error")) is not None:
        fields["error"] = error.model_dump(exclude_unset=True)
    return fields
