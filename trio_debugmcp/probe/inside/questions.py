"""The questions that the probe answers: one function each, JSON in and JSON out.

    call("stop", '{"thread": 1}')   # '{"answer": {"frames": [...], "locals": [...], "threads": [...]}, "ms": 1.3}'

`bootstrap.call_expression` makes the expression that calls it; `probe/answers.py` has the structs of the answers.
"""

import time
from typing import Any, Callable, Dict, List, Optional

from trio_debugmcp.probe.inside import (
    bounds,
    evaluation,
    modules,
    observed,
    record_connection,
    stop_variables,
    visible_frames,
)
from trio_debugmcp.probe.inside.debugger import attached
from trio_debugmcp.probe.inside.debugger.seam import ProgramThread, RefusedError
from trio_debugmcp.probe.inside.encoding import decoded, encoded
from trio_debugmcp.probe.inside.hits import hit
from trio_debugmcp.probe.inside.question import ProbeQuestion, UnknownError
from trio_debugmcp.probe.inside.safe import safe_questions
from trio_debugmcp.probe.inside.threads import task_questions, thread_list
from trio_debugmcp.probe.inside.types import type_questions
from trio_debugmcp.probe.inside.values import (
    assignment,
    capture_tree,
    collection_summary,
    facts,
    object_tree,
    program_text,
    rendering,
    variable_listing,
)
from trio_debugmcp.probe.inside.visible_frames import Json

STOP_FRAMES = 20
STOP_THREADS = 200

_SOON_SECONDS = 0.02
"""For an evaluation that was started, before it has to be asked for again."""


# --- The questions ----------------------------------------------------------------------------------------------------


def _stop(asked: ProbeQuestion) -> Json:
    """The stack of a thread, the variables of its top frame, and the place of every thread."""
    thread = asked.thread()
    answer = _stack(asked, thread, asked.number("frames", STOP_FRAMES), visible_frames.announced_json)
    top = visible_frames.at(thread, 0)
    if top is not None:
        most = asked.number("locals", visible_frames.MOST_LOCALS)
        stop_variables.put(answer, top.frame, most, asked.budget, asked.renderer)
        results = attached.debugger().returned(top.frame, thread.ident, bool(asked.parameters.get("first")))
        if results:
            answer["returned"] = [visible_frames.variable_json(*result, asked.renderer) for result in results]
        stop_variables.put_exceptions(answer, thread, top.frame, asked.budget, asked.renderer)
    everything = thread_list.places_json(asked.budget, asked.number("threads", STOP_THREADS))
    answer["threads"], answer["threadsTotal"] = everything["threads"], everything["total"]
    return answer


def _stack(
    asked: ProbeQuestion,
    thread: ProgramThread,
    count: int,
    shown: Callable[..., Json] = visible_frames.frame_json,
) -> Json:
    listed = visible_frames.listed(thread, asked.number("start", 0), count, asked.budget, shown)
    return {"thread": thread.id, **listed}


def _threads(asked: ProbeQuestion) -> Json:
    """Every thread: where it is, what it waits for, which threads block each other."""
    return thread_list.threads_json(
        asked.budget, asked.number("start", 0), asked.number("count", thread_list.MOST_THREADS)
    )


def _frames(asked: ProbeQuestion) -> Json:
    """The frames of a thread or a task, with the locals of each if `locals` is true."""
    if asked.parameters.get("task") is not None:
        return task_questions.frames(asked, STOP_FRAMES)
    thread = asked.thread()
    answer = _stack(asked, thread, asked.number("count", STOP_FRAMES))
    if asked.parameters.get("locals"):
        visible_frames.add_locals(thread, answer["frames"], asked.budget, asked.renderer)
    return answer


def _stacks(asked: ProbeQuestion) -> Json:
    """The stacks of all threads, with the locals of each frame if `locals` is true."""
    question = thread_list.StackQuestion(
        start=asked.number("start", 0),
        most=asked.number("count", thread_list.MOST_THREADS),
        frames=asked.number("frames", STOP_FRAMES),
        locals_=bool(asked.parameters.get("locals")),
        shared=bool(asked.parameters.get("process")),
    )
    answer = thread_list.stacks_json(question, asked.budget, asked.renderer)
    if asked.parameters.get("process"):
        from trio_debugmcp.probe.inside import process_marks

        answer["marks"], answer["used"] = process_marks.marks_json(), process_marks.used_json()
    return answer


def _used(asked: ProbeQuestion) -> Json:
    """How much processor time the process has used."""
    from trio_debugmcp.probe.inside import process_marks

    return process_marks.used_json()


def _holders(asked: ProbeQuestion) -> Json:
    """Which processes of this machine have an end of some pipes."""
    from trio_debugmcp.probe.inside.threads import pipe_holders

    return pipe_holders.holders_json(asked.parameters["pipes"], asked.parameters["among"], asked.budget)


def _variables(asked: ProbeQuestion) -> Json:
    """The variables of a frame's scope, or the children of what an expression stands for."""
    has_place = asked.has_place or asked.parameters.get("frame") is not None
    frame: Optional[Any] = asked.place().frame if has_place else None
    question = variable_listing.ListingQuestion(
        start=asked.number("start", 0),
        most=asked.number("count", 100),
        depth=asked.number("depth", 1),
        filter_=asked.text("filter"),
        names=tuple(asked.parameters.get("names") or ()),
    )
    path = asked.text("path")
    if path:
        value = variable_listing.evaluate(path, frame, asked.budget)
        return variable_listing.of_value(value, path, question, asked.budget, asked.renderer)
    if frame is None:
        named = facts.namespace_order([item for item in visible_frames.main_globals().items() if item[0][:2] != "__"])
        pairs = [(name, value, name) for name, value in named]
    else:
        pairs = variable_listing.scope_pairs(frame, asked.text("scope"))
    return variable_listing.of_scope(pairs, question, asked.budget, asked.renderer)


def _inspect(asked: ProbeQuestion) -> Json:
    """What an expression stands for, as a tree."""
    path, frame = asked.text("path"), asked.place().frame
    value = variable_listing.evaluate(path, frame, asked.budget)
    depth, most = asked.number("depth", 2), asked.number("count", 50)
    return {"object": object_tree.tree_json(value, path, depth, most, asked.budget, asked.renderer)}


def _capture(asked: ProbeQuestion) -> Json:
    """The locals of a frame, with what is inside, to be compared with a later answer; and where that frame is."""
    thread = asked.thread()
    seen = asked.frame(thread)
    pairs = variable_listing.scope_pairs(seen.frame, "locals")
    depth, most = asked.number("depth", 2), asked.number("count", 100)
    answer = capture_tree.capture_json(pairs, depth, most, asked.budget, asked.renderer)
    answer["at"] = visible_frames.frame_json(asked.number("frame", 0), seen, False)
    return answer


def _summarize(asked: ProbeQuestion) -> Json:
    """What a collection holds. `withheld`: its items lack what only code of the program knows."""
    value = variable_listing.evaluate(asked.text("path"), asked.place().frame, asked.budget)
    try:
        answer = collection_summary.summary_json(value, asked.number("count", 5), asked.budget, asked.renderer)
    except collection_summary.NotCollectionError as error:
        raise UnknownError("collection", str(error)) from None
    answer["withheld"] = asked.renderer.withheld_any
    return answer


def _describe(asked: ProbeQuestion) -> Json:
    """What an expression stands for: its text, its type with module, its true length."""
    frame = asked.place().frame if asked.has_place else None
    value = variable_listing.evaluate(asked.text("expression"), frame, asked.budget)
    answer = visible_frames.variable_json(asked.text("expression"), value, None, asked.renderer)
    answer["type"] = facts.type_name(type(value))
    answer["module"] = facts.module_name(type(value))
    length = facts.length(value)
    if length is not None:
        answer["length"] = length
    return answer


def _exception(asked: ProbeQuestion) -> Json:
    """The exception at which a thread is stopped, with all that is behind it."""
    from trio_debugmcp.probe.inside import exception_chain

    bounds = exception_chain.ChainBounds(
        asked.number("inner", 5), asked.number("frames", 10), asked.number("locals", 1)
    )
    found = exception_chain.answer_json(asked.thread(), bounds, asked.budget, asked.renderer)
    if found is None:
        raise UnknownError("exception", "The thread is not stopped at an exception.")
    return found


def _modules(asked: ProbeQuestion) -> Json:
    """The modules that the program has imported."""
    start, most = asked.number("start", 0), asked.number("count", 100)
    return modules.modules_json(start, most, asked.text("filter"), asked.budget)


def _start(asked: ProbeQuestion) -> Json:
    """Evaluate in a frame of a task, or else in the main module, by a thread of our own; the outcome, if it is soon."""
    frame = asked.place().frame if asked.has_place else None
    evaluation.start(asked.number("number", 0), asked.number("limit", rendering.LIMIT), asked.text("source"), frame)
    evaluation.wait_done(asked.number("number", 0), _SOON_SECONDS)
    return _outcome(asked)


def _outcome(asked: ProbeQuestion) -> Json:
    """How an evaluation ended; it is given out once. With `withdraw` one that has not begun will never run."""
    if asked.parameters.get("withdraw") is True and evaluation.withdraw(asked.number("number", 0)):
        return {"done": True, "withdrawn": True}
    found = evaluation.take_outcome(asked.number("number", 0))
    if found is None:
        raise UnknownError("evaluation", "There is no such evaluation.")
    return found


def _interrupt(asked: ProbeQuestion) -> Json:
    """Interrupt an evaluation; its outcome says whether it has ended."""
    found = evaluation.find(asked.number("number", 0))
    if found is not None:
        found.interrupt()
    return _outcome(asked)


def _awaited(asked: ProbeQuestion) -> Json:
    """What an evaluation waits for that has not ended; nothing if it runs."""
    found = evaluation.find(asked.number("number", 0))
    return {} if found is None else thread_list.awaited_json(found.idents(), asked.budget)


def _record(asked: ProbeQuestion) -> Json:
    """Open the line over which hits of breakpoints are recorded."""
    try:
        return {"recording": record_connection.open_line(asked.text("key")).is_open}
    except RefusedError as error:
        raise UnknownError("refused", str(error)) from None


def _trace(asked: ProbeQuestion) -> Json:
    """Begin to look for the calls of a function, to trace them."""
    from trio_debugmcp.probe.inside.tracing import call_record, call_tracer

    try:
        call_tracer.begin(asked.number("number", 0), asked.parameters["wanted"])
    except call_record.UnableError as error:
        raise UnknownError("unable", str(error)) from None
    return {}


def _traced(asked: ProbeQuestion) -> Json:
    """How far a trace is; with `take` it ends, and what it has recorded is the answer."""
    from trio_debugmcp.probe.inside.tracing import call_tracer

    trace = call_tracer.find(asked.number("number", 0))
    if trace is None:
        raise UnknownError("trace", "There is no such trace.")
    return trace.take() if asked.parameters.get("take") else call_tracer.state(trace)


def reached(number: int) -> bool:
    """The condition of the breakpoint by which the calls of a traced function are found."""
    from trio_debugmcp.probe.inside.tracing import call_tracer

    return call_tracer.reached(number)


def _over(asked: ProbeQuestion) -> Json:
    """A run that observed places is over: interrupt the conditions that are still being evaluated there."""
    return {"interrupted": observed.interrupt_all()}


def _unpause(asked: ProbeQuestion) -> Json:
    """A pause is wanted no more: have threads run on that have not stopped for it yet."""
    return {"taken": attached.debugger().take_back_pause()}


QUESTIONS: Dict[str, Callable[[ProbeQuestion], Json]] = {
    "stop": _stop,
    "threads": _threads,
    "frames": _frames,
    "stacks": _stacks,
    "used": _used,
    "holders": _holders,
    "variables": _variables,
    "inspect": _inspect,
    "capture": _capture,
    "summarize": _summarize,
    "describe": _describe,
    "safe": safe_questions.safe,
    "operands": safe_questions.operands,
    "type": type_questions.type_,
    "symbols": type_questions.symbols,
    "exception": _exception,
    "references": type_questions.references,
    "instances": type_questions.instances,
    "tasks": task_questions.tasks,
    "modules": _modules,
    "start": _start,
    "outcome": _outcome,
    "interrupt": _interrupt,
    "awaited": _awaited,
    "record": _record,
    "trace": _trace,
    "traced": _traced,
    "over": _over,
    "unpause": _unpause,
}


def call(name: str, parameters: str) -> str:
    """Answer a question. Never raises: what went wrong is in the answer."""
    begin = time.monotonic()
    asked: Optional[ProbeQuestion] = None
    answer: Json
    try:
        attached.debugger().begin_answer()
        asked = ProbeQuestion(decoded(parameters))
        answer = {"answer": QUESTIONS[name](asked)}
        if asked.budget.spent():
            answer["cut"] = True
    except bounds.TooSlowError:
        answer = {"error": {"kind": "slow", "message": "It took too long."}}
    except UnknownError as error:
        answer = {"error": {"kind": error.kind, "message": str(error)}}
    except BaseException as error:
        answer = {"error": {"kind": "raised", "message": program_text.error_text(error)}}
    finally:
        if asked is not None:
            asked.budget.close()
    answer["ms"] = round((time.monotonic() - begin) * 1000, 3)
    return encoded(answer)


__all__: List[str] = ["QUESTIONS", "assignment", "call", "hit", "reached"]
