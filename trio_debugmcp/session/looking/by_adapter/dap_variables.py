"""Scopes and variables as the Debug Adapter Protocol has them: what a user asks for, and how clients see it. Pure.

Which of a frame's scopes hold what a user asks for is decided here: adapters name and divide them as they like.
"""

import logging
import re
from collections.abc import Sequence
from hashlib import blake2b

from trio_debugmcp.dap.messages import DapScope, DapVariable
from trio_debugmcp.dap.profiles.profile import Dialect, Profile
from trio_debugmcp.session.looking.variables import ScopeName, child_count
from trio_debugmcp.state.payloads import MAX_VALUE_LENGTH, Variable, shortened

log = logging.getLogger(__name__)

MAX_SCOPES = 100
"""Scopes of a frame that are asked for, a request each: adapters have two to a dozen, and one that is broken many."""

_OUTSIDE = re.compile(r"(?i)global|static|register|closure|special|package|environment|cache")
"""In names of scopes with what is not the frame's own, whatever their hints: js-debug hints `arguments` at closures."""

_INNER = re.compile(r"(?i)\b(block|catch|with|eval)\b")
"""In names of scopes for parts of a function: variables of a loop's body are locals, too."""


def variable_payload(
    variable: DapVariable,
    profile: Profile,
    *,
    limit: int = MAX_VALUE_LENGTH,
    parent: str | None = None,
    parent_type: str | None = None,
) -> Variable:
    """Return a variable as clients see it, without its children; it has a path if that would be accepted back."""
    path = variable.evaluate_name if profile.values.trusts(variable.evaluate_name) else None
    path = path or (profile.values.member(parent, variable.name, parent_type) if parent else variable.name)
    return Variable(
        name=variable.name,
        value=shortened(variable.value, limit),
        type=variable.type,
        path=path if path and profile.expressions.is_path(path) else None,
        child_count=child_count(variable),
        # What the adapter itself has cut is not known.
        digest=_digest(variable.value) if len(variable.value) > limit else None,
    )


def _digest(text: str) -> str:
    return blake2b(text.encode(errors="surrogatepass"), digest_size=8).hexdigest()


def chosen_scopes(dialect: Dialect, scopes: Sequence[DapScope], wanted: ScopeName) -> list[DapScope]:
    """Return the scopes of that name, in the adapter's order. Arguments are locals, too.

    Where none is called so, locals are in all that are not known to hold anything else, as `Variables` and `Module`.
    """
    if len(scopes) > MAX_SCOPES:
        log.warning("%s scopes of one frame: the first %s are asked for", len(scopes), MAX_SCOPES)
        scopes = scopes[:MAX_SCOPES]
    if wanted == "all":
        return list(scopes)
    if wanted != "locals":
        return [scope for scope in scopes if _is_called(scope, dialect.scope_names[wanted])]
    candidates = [
        scope for scope in scopes if not _OUTSIDE.search(scope.name) and scope.presentation_hint != "registers"
    ]
    words = [dialect.scope_names["locals"], dialect.scope_names["arguments"]]
    named = [scope for scope in candidates if any(_is_called(scope, word) for word in words)]
    if not named:
        return [scope for scope in candidates if not scope.expensive]
    return [scope for scope in candidates if scope in named or _INNER.search(scope.name)]


def _is_called(scope: DapScope, word: str) -> bool:
    return word in scope.name.lower() or word in (scope.presentation_hint or "")
