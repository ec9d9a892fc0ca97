"""pydevd's walk over the frames of a stop, with the places that users know: for its own answers and for the probe's.

Of a template pydevd names the code that was made of it, and of other code the file that this names, whatever is in it.
"""

from typing import Any, Iterator, Tuple

from trio_debugmcp.probe.inside.debugger import named_files
from trio_debugmcp.probe.inside.debugger.frame_lines import line_of

_WALK = "_iter_visible_frames_info"

_MARK = "has_places"


def put_into(factory: Any) -> None:
    """Have pydevd's class of answers walk over frames with their places, once."""
    walk = getattr(factory, _WALK, None)
    if walk is None or hasattr(walk, _MARK):
        return

    def walk_with_places(self: Any, *arguments: Any, **options: Any) -> Iterator[Tuple[Any, ...]]:
        for number, frame, name, original, file, line, *more in walk(self, *arguments, **options):
            is_plugins = getattr(frame, "IS_PLUGIN_FRAME", False)
            place = (file, line) if is_plugins else named_files.place_of(frame, file, line or line_of(frame))
            yield (number, frame, name, original, *place, *more)

    setattr(walk_with_places, _MARK, True)
    setattr(factory, _WALK, walk_with_places)
