"""`path_mappings`: where the program has the files of this machine, if that is elsewhere."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from msgspec import Meta, Struct

from trio_debugmcp.dap.profiles import PathMapping, Profile
from trio_debugmcp.errors import UsageError
from trio_debugmcp.session.debugger import Debugger

_ABSOLUTE = re.compile(r"/|[A-Za-z]:[/\\]")


class Mapping(Struct, frozen=True, forbid_unknown_fields=True):
    """A directory on this machine, and where the programs have it."""

    local: Annotated[str, Meta(min_length=1, description="A directory here, absolute or relative to the server.")]
    remote: Annotated[str, Meta(min_length=1, description="The same one where the program runs; an absolute path.")]


def checked_mappings(
    debugger: Debugger, mappings: Sequence[Mapping], profile: Profile | None = None
) -> tuple[PathMapping, ...]:
    """Return the mappings with absolute paths, for an adapter that has to have words for them.

    Raises:
        UsageError: `INVALID_PATH`, or `NOT_SUPPORTED`: the adapter has none.
    """
    if mappings and profile is not None and not profile.maps_paths:
        raise UsageError(
            "NOT_SUPPORTED",
            f"{profile.name} cannot map paths to files elsewhere. Leave out `path_mappings`, and put the sources "
            "where the program has them.",
            {"adapter": profile.name, "capability": "path_mappings"},
        )
    if len(mappings) > 1 and profile is not None and profile.maps_one_path:
        raise UsageError(
            "NOT_SUPPORTED",
            f"{profile.name} maps one directory. Pass the one in `path_mappings` that all sources are in.",
            {"adapter": profile.name, "capability": "path_mappings"},
        )
    return tuple(_checked(debugger, mapping) for mapping in mappings)


def _checked(debugger: Debugger, mapping: Mapping) -> PathMapping:
    local = debugger.workspace.resolve(mapping.local)
    if not debugger.host.query(f"directory {local}", Path(local).is_dir):
        raise UsageError(
            "INVALID_PATH",
            f"path_mappings: there is no directory '{local}' here. Pass one as `local`.",
            {"path": local},
        )
    if not _ABSOLUTE.match(mapping.remote):
        raise UsageError(
            "INVALID_PATH",
            f"path_mappings: '{mapping.remote}' is not an absolute path; pass the one that the program has there.",
            {"path": mapping.remote},
        )
    return PathMapping(local, mapping.remote)
