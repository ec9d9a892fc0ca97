"""`without_warnings`: do something of ours of which the interpreter would warn the program.

The program's filters of warnings are in Python's module, or in the interpreter's before that is imported.
"""

import _warnings
import sys
from typing import Any, Callable

_modules = sys.modules


def without_warnings(category: type, function: Callable[[], Any]) -> Any:
    """Call a function while no warning of a category is shown, kept, or made an error; return its result."""
    quiet = ("ignore", None, category, None, 0)
    filters = [vars(module).get("filters") for module in (_modules.get("warnings"), _warnings) if module is not None]
    lists = [each for each in filters if type(each) is list]
    for each in lists:
        each.insert(0, quiet)
    try:
        return function()
    finally:
        for each in lists:
            if quiet in each:
                each.remove(quiet)
