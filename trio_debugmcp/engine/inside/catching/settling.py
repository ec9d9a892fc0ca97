"""A plan of `handlers` decided for an exception in a frame: caught here, or not, or not known."""

from trio_debugmcp.engine.inside.catching import handlers, managers
from trio_debugmcp.engine.inside.catching.namespaces import NameScope
from trio_debugmcp.engine.inside.catching.thrown_exception import ThrownException, matches

MYPY = False
if MYPY:
    from trio_debugmcp.engine.inside.catching.notation import Classes, Expression, FrameType, Plan

_END_KINDS = {"StopIteration": StopIteration, "StopAsyncIteration": StopAsyncIteration}


def settle(plan: "Plan", frame: "FrameType | None", thrown: ThrownException, scope: NameScope | None = None) -> "Plan":
    """Return (CAUGHT, line, how), (LEAVES,), or (DOUBT, reason). Names are those of the frame, or of a scope."""
    while True:
        kind = plan[0]
        if kind == handlers.LEAVES or kind == handlers.CAUGHT or kind == handlers.DOUBT:
            return plan
        if kind == handlers.MATCH:
            (_, names, types, yes, no) = plan
            decision = _named(names, frame, thrown.classes) if names is not None and frame is not None else None
            if decision is None:
                decision = _matching(types, scope or NameScope(frame), thrown.classes)
            reason = "what the handler catches cannot be read"
        elif kind == handlers.WITH:
            (_, manager, name, awaited, yes, no) = plan
            exit_name = "__aexit__" if awaited else "__exit__"
            (decision, reason) = managers.ManagerQuestion(exit_name, thrown, settle).of_block(
                manager, name, scope or NameScope(frame)
            )
        elif kind == handlers.CONVERTED:
            if thrown.is_a(StopIteration):
                thrown.convert(RuntimeError)
            plan = plan[1]
            continue
        elif kind == handlers.AWAITED:
            (_, name, yes, no) = plan
            (decision, reason) = (thrown.is_a(_END_KINDS[name]), "")
        elif kind == handlers.GROUP:
            (_, clauses, yes, no) = plan
            (decision, reason) = (_split(clauses, scope or NameScope(frame), thrown), "`except*` may catch a part")
        else:
            (_, yes, no) = plan
            (decision, reason) = (None, "the handler may raise it again")
        if decision is None:
            return _both(settle(yes, frame, thrown, scope), settle(no, frame, thrown, scope), reason)
        plan = yes if decision else no


def settle_named(plan: "Plan", frame: "FrameType", classes: "Classes") -> "Plan | None":
    """Return what `settle` does where the handler has plain names, one of which matches, and keeps it; else None."""
    if plan[0] != handlers.MATCH or plan[1] is None or not _named(plan[1], frame, classes):
        return None
    yes: Plan = plan[3]
    return yes if yes[0] == handlers.CAUGHT else None


def _both(first: "Plan", second: "Plan", reason: str) -> "Plan":
    """Return what is true either way."""
    if first[0] == second[0] and first[0] != handlers.DOUBT:
        return first
    return first if first[0] == handlers.DOUBT else second if second[0] == handlers.DOUBT else (handlers.DOUBT, reason)


def _named(names: "Plan", frame: "FrameType", classes: "Classes") -> bool | None:
    """Return whether a handler with plain names matches; None where this must be found out with more care."""
    own = frame.f_globals
    builtins = frame.f_builtins
    if type(own) is not dict or type(builtins) is not dict:
        return None
    for name in names:
        kind = own.get(name)
        if kind is None:
            kind = builtins.get(name)
        for base in classes:
            if base is kind:
                return True
        if type(kind) is not type:
            return None
    return False


def _matching(types: "Expression | None", scope: NameScope, classes: "Classes") -> bool | None:
    """Return whether a handler's types match; a handler with several types may be decided by one of them."""
    if types is not None and types[0] == "tuple":
        answers = [_matching(part, scope, classes) for part in types[1]]
        return True if True in answers else None if None in answers else False
    return matches(scope.value(types), classes)


def _split(clauses: "Plan", scope: NameScope, thrown: ThrownException) -> bool | None:
    """Return whether clauses of `except*` take all of an exception, or nothing of it."""

    def taken(classes: "Classes") -> bool | None:
        answer: bool | None = False
        for types, again in clauses:
            match = _matching(types, scope, classes)
            if match is None or (match and again):
                return None
            answer = answer or match
        return answer

    return thrown.share(taken)
