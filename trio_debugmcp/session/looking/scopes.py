"""Which of a frame's scopes hold what a user asks for; adapters name and divide them as they like. Pure."""

import re
from collections.abc import Sequence
from typing import Literal

from trio_debugmcp.dap.messages import DapScope
from trio_debugmcp.dap.profiles import Dialect

ScopeName = Literal["all", "locals", "arguments", "globals"]

_OUTSIDE = re.compile(r"(?i)global|static|register|closure|special|package|environment|cache")
"""In names of scopes with what is not the frame's own, whatever their hints: js-debug hints `arguments` at closures."""

_INNER = re.compile(r"(?i)\b(block|catch|with|eval)\b")
"""In names of scopes for parts of a function: variables of a loop's body are locals, too."""


def chosen_scopes(dialect: Dialect, scopes: Sequence[DapScope], wanted: ScopeName) -> list[DapScope]:
    """Return the scopes of that name, in the adapter's order. Arguments are locals, too.

    Where none is called so, locals are in all that are not known to hold anything else, as `Variables` and `Module`.
    """
    if wanted == "all":
        return list(scopes)
    if wanted != "locals":
        return [each for each in scopes if _is_called(each, dialect.scope_names[wanted])]
    own = [each for each in scopes if not _OUTSIDE.search(each.name) and each.presentation_hint != "registers"]
    words = [dialect.scope_names["locals"], dialect.scope_names["arguments"]]
    named = [each for each in own if any(_is_called(each, word) for word in words)]
    if not named:
        return [each for each in own if not each.expensive]
    return [each for each in own if each in named or _INNER.search(each.name)]


def _is_called(scope: DapScope, word: str) -> bool:
    return word in scope.name.lower() or word in (scope.presentation_hint or "")
