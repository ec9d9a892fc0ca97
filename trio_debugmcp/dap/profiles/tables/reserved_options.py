"""Which arguments of a launch request users may not pass in `adapter_options`, by an adapter's table.

    reserved_by({"program": "{program}", "title": "run {program}"}, {})     # {"program": "program"}

Pure.
"""

from collections.abc import Mapping
from typing import Any

_PARAMETERS = {
    "{program}": "program",
    "{args}": "args",
    "{cwd}": "cwd",
    "{env}": "env",
    "{env_list}": "env",
    "{environment}": "env",
    "{just_my_code}": "just_my_code",
    "{stop_at_entry}": "stop_at_entry",
}
"""Placeholder → the parameter of `debug_launch` that sets it."""

_ALWAYS = {
    "console": "console",
    "stopOnEntry": "stop_at_entry",
    "stopAtEntry": "stop_at_entry",
    "stopAtBeginningOfMainSubprogram": "stop_at_entry",
    "request": "",
    "type": "",
}
"""Never passed by users, as the entry and the program's streams are this server's."""


def reserved_by(launch: Mapping[str, Any], more: Mapping[str, str]) -> dict[str, str]:
    """Return the arguments that options may not set, and the parameter that sets each; `more` is what a table adds.

    An argument that is a text with a placeholder inside, or a constant, is only what it is by default.
    """
    filled = {
        name: _PARAMETERS[value] for name, value in launch.items() if isinstance(value, str) and value in _PARAMETERS
    }
    return {**_ALWAYS, **filled, **more}
