"""The payload of `debugger://stack`: the last stop's frames and locals, and which of them it has changed."""

from trio_debugmcp.state.model import KeptStop, KeptStops, Snapshot, StackFrame, State
from trio_debugmcp.state.payloads import Frame, Payload, Scope, Variable, iso_time


class StackPayload(Payload, frozen=True):
    """`debugger://stack`: the active thread's frames, and the scopes and locals of the top one.

    `total` and `localsTotal` count all of them, these are the first. `changed`: the locals that differ from the
    stop `comparedWith`, the last one before `stop` in the same call, with what they were; null: there was none of the
    name.
    """

    thread_id: int | None
    frames: list[Frame]
    total: int
    scopes: list[Scope]
    locals: list[Variable] | None
    locals_total: int
    stop: int | None
    changed: dict[str, str | None]
    compared_with: int | None
    stale: bool
    captured_at: str | None
    revision: int


def frame_payload(index: int, frame: StackFrame) -> Frame:
    """A frame as clients receive it: with its index, which is valid for as long as the stop lasts."""
    return Frame(index, frame.name, frame.location, frame.is_user_code)


def stack_parts(state: State, snapshot: Snapshot) -> tuple[object, ...]:
    """What the payload is made of."""
    kept = _stop_of_stack(state.kept, snapshot)
    return snapshot.id, snapshot.stack, None if kept is None else (kept.stop.number, kept.changed, kept.compared_with)


def stack_payload(state: State, snapshot: Snapshot, revision: int) -> StackPayload:
    """The stack of the active thread, as of the last stop."""
    stack = snapshot.stack
    kept = _stop_of_stack(state.kept, snapshot)
    return StackPayload(
        thread_id=stack.thread_id,
        frames=[frame_payload(index, frame) for index, frame in enumerate(stack.frames)],
        total=stack.total,
        scopes=[] if stack.locals is None else [Scope(scope.name, scope.expensive) for scope in stack.locals.scopes],
        locals=None if stack.locals is None else list(stack.locals.variables),
        locals_total=0 if stack.locals is None else max(stack.locals.total, len(stack.locals.variables)),
        stop=None if kept is None else kept.stop.number,
        changed={} if kept is None else dict(kept.changed),
        compared_with=None if kept is None else kept.compared_with,
        stale=stack.stale,
        captured_at=None if stack.captured_at is None else iso_time(stack.captured_at),
        revision=revision,
    )


def _stop_of_stack(kept: KeptStops, snapshot: Snapshot) -> KeptStop | None:
    """Return the kept stop that a session's stack is of, also when the program has resumed since."""
    for stop in reversed(kept.stops):
        if stop.session_id == snapshot.id:
            return stop if stop.stack.captured_at == snapshot.stack.captured_at else None
    return None
