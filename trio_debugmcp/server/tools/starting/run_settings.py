"""How a run is recorded, as tools take it."""

from typing import Annotated

from msgspec import Meta, Struct

from trio_debugmcp.session.run_room import MAX_KEPT_MB

MaxMegabytes = Annotated[
    int,
    Meta(
        ge=1, le=MAX_KEPT_MB // 2, description="Megabytes for each process; beyond, the oldest of what happened goes."
    ),
]
Include = Annotated[
    list[Annotated[str, Meta(min_length=1)]],
    Meta(max_length=100, description="Modules (`pkg.part`) and path prefixes to record beside the project's own code."),
]


class RunSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How a run is recorded."""

    include: Include = []
    max_mb: MaxMegabytes = 256
