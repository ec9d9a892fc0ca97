"""Which of a frame's scopes hold what a user asks for; adapters name and divide them as they like. Pure."""

from collections.abc import Sequence
from typing import Literal

from trio_debugmcp.dap.messages import DapScope
from trio_debugmcp.dap.profiles import Dialect

ScopeName = Literal["all", "locals", "arguments", "globals"]


def chosen_scopes(dialect: Dialect, scopes: Sequence[DapScope], wanted: ScopeName) -> list[DapScope]:
    """Return the scopes of that name, in the adapter's order. Arguments are locals, too."""
    if wanted == "all":
        return list(scopes)
    names: list[ScopeName] = ["locals", "arguments"] if wanted == "locals" else [wanted]
    words = [dialect.scope_names[name] for name in names]
    return [each for each in scopes if any(_is_called(each, word) for word in words)]


def _is_called(scope: DapScope, word: str) -> bool:
    return word in scope.name.lower() or word in (scope.presentation_hint or "")
