"""The texts of sources that only a debug adapter has: of generated code, and of what has no file on this machine."""

from typing import Any

from trio_debugmcp.session.looking.sources import KnownSource

SOURCE_SECONDS = 2.0
"""For the adapter's answer; neither a resource nor a stop must wait for a busy program."""


def source_arguments(source: KnownSource) -> dict[str, Any]:
    """Return the arguments of DAP's request `source` for one that has a reference."""
    described = {"path": source.path, "sourceReference": source.reference}
    return {"sourceReference": source.reference, "source": described}
