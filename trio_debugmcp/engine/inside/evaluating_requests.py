"""The requests that evaluate something in the program, and those that ask the probe.

`evaluate` with a `number` is an evaluation of the user's: how it ended is the probe's answer to `outcome`. One that is
about a frame is done by the thread that is held there.
"""

from typing import Any, Callable

from trio_debugmcp.engine.inside.door_connection import JsonText
from trio_debugmcp.engine.inside.interruptions import completed
from trio_debugmcp.engine.inside.judged_breakpoints import judge_of
from trio_debugmcp.engine.inside.numbered_values import is_path
from trio_debugmcp.engine.inside.request_table import LATER, EngineRequest, RequestRefusedError, RequestTable
from trio_debugmcp.engine.inside.thread_records import ThreadRecord
from trio_debugmcp.probe.inside.encoding import encoded

INTERRUPT = "@interrupt"
"""Evaluated without a frame: interrupt what is evaluated for the debugger; the value is how much that was."""


_MOST_TEXT = 1 << 16
"""Characters of a value of which an evaluation without a number is asked."""


class EvaluatingRequests:
    """Evaluations, and questions to the probe."""

    def __init__(self, engine: Any) -> None:
        self._engine = engine

    def add_to(self, table: RequestTable) -> None:
        table.add(
            evaluate=self._evaluate,
            setExpression=self._set_expression,
        )
        table.add(**{"trioDebugmcp/ask": self._ask})

    # --- The probe ----------------------------------------------------------------------------------------------------

    def _ask(self, request: EngineRequest) -> Any:
        from trio_debugmcp.probe.inside import questions  # loaded with the first question

        question, parameters = str(request.arguments["question"]), request.arguments.get("parameters") or {}
        if request.arguments.get("atStops"):
            self._engine.stop_answers.ask(question, parameters)
        return JsonText(questions.call(question, encoded(parameters)))

    # --- In a frame ---------------------------------------------------------------------------------------------------

    def _evaluate(self, request: EngineRequest) -> Any:
        arguments = request.arguments
        expression = str(arguments.get("expression") or "")
        if arguments.get("frameId") is None:
            return self._evaluate_without_frame(expression)
        number = arguments.get("number")
        target = arguments.get("target")
        if target is not None:
            return self._in_frame(
                request, lambda frame: self._assigned(int(number or 0), str(target), expression, frame)
            )
        if number is not None:
            limit = int(arguments.get("limit") or 0)
            numbered = bool(arguments.get("numbered"))
            return self._in_frame(request, lambda frame: self._of_user(number, limit, expression, frame, numbered))
        return self._in_frame(request, lambda frame: self._value(expression, frame, is_hexadecimal(arguments)))

    def _evaluate_without_frame(self, expression: str) -> Any:
        if expression == INTERRUPT:
            return {"result": str(self._engine.evaluations.interrupt()), "variablesReference": 0}
        if not self._engine.starting.is_configured:
            return {"result": "", "variablesReference": 0}  # it prepares a debugger of another kind
        # A question of the debugger's own about the interpreter: none of the program's names is there.
        try:
            value = eval(compile(expression, "<evaluate>", "eval", dont_inherit=True), {"__builtins__": __builtins__})
        except Exception as error:
            raise RequestRefusedError(_error_text(error)) from None
        return {"result": value if type(value) is str else repr(value), "variablesReference": 0}

    def _in_frame(self, request: EngineRequest, evaluate: Callable[[Any], Any]) -> Any:
        found = self._engine.frames.find(request.arguments["frameId"])
        if found is None or not found[0].is_held:
            raise RequestRefusedError("there is no such frame: its thread has continued")
        record, frame = found
        return evaluate_in(self._engine, request, record, frame, evaluate)

    def _of_user(self, number: int, limit: int, source: str, frame: Any, numbered: bool) -> Any:
        from trio_debugmcp.probe.inside import evaluation

        made = evaluation.new(number, limit, source)
        names = self._names(frame)
        keep = self._engine.evaluations.keep
        value = made.run(names.together, own_thread=False, settle=names.write_back, keep=keep)
        report = made.report
        report.update(self._engine.evaluations.circumstances())
        inside = self._inside(source, frame, value) if numbered else {"variablesReference": 0}
        return {"result": report.get("value", ""), "type": report.get("type"), **inside}

    def _inside(self, source: str, frame: Any, value: Any) -> Any:
        """Return a number of what is inside of the value that an expression had in a frame."""
        path = source.strip()
        record = self._engine.held.holder
        return self._engine.frames.values.described(record, frame, path if is_path(path) else "", value)

    def _assigned(self, number: int, target: str, source: str, frame: Any) -> Any:
        from trio_debugmcp.probe.inside.values import assignment

        assignment.in_frame(number, frame, target, source, self._engine.evaluations.keep)
        return {"result": "", "variablesReference": 0}

    def _value(self, expression: str, frame: Any, hexadecimal: bool) -> Any:
        own = judge_of(expression)
        if own is not None:
            return {"result": str(own(frame)), "variablesReference": 0}
        names = self._names(frame)
        try:
            try:
                code = compile(expression, "<evaluate>", "eval", dont_inherit=True)
            except SyntaxError:
                exec(compile(expression, "<evaluate>", "exec", dont_inherit=True), names.together)
                return {"result": "", "variablesReference": 0}
            value = eval(code, names.together)
        finally:
            names.write_back()
        return {**_shown(value, hexadecimal), **self._inside(expression, frame, value)}

    def _set_expression(self, request: EngineRequest) -> Any:
        target, value = str(request.arguments["expression"]), str(request.arguments["value"])

        def assign(frame: Any) -> Any:
            names = self._names(frame)
            exec(compile(f"{target} = {value}", "<evaluate>", "exec", dont_inherit=True), names.together)
            names.write_back()
            return {"value": _shown(eval(target, names.together), is_hexadecimal(request.arguments))["result"]}

        return self._in_frame(request, assign)

    def _names(self, frame: Any) -> Any:
        """Return the names of a frame; where an exception is at hand there, it is one of them."""
        from trio_debugmcp.probe.inside.frame_names import FrameNames

        names = FrameNames(frame)
        record: ThreadRecord | None = self._engine.held.holder
        stop = None if record is None else record.stop
        if stop is not None and stop.exception is not None and frame is stop.frame:
            names.add("__exception__", stop.exception)
        return names


def evaluate_in(
    engine: Any, request: EngineRequest, record: ThreadRecord, frame: Any, evaluate: Callable[[Any], Any]
) -> Any:
    """Have the thread that is held in a frame evaluate there, and respond."""
    evaluations = engine.evaluations
    values: list[Any] = []
    failures: list[BaseException] = []

    def serve() -> None:
        if not values and not failures:
            try:
                values.append(evaluations.run(record, lambda: evaluate(frame)))
            except BaseException as error:
                failures.append(error)
        if values:
            request.respond(values[0])
        else:
            request.refuse(_reason(failures[0], is_raised_later=evaluations.keep(failures[0])))

    def serve_held() -> None:
        record.is_evaluating = True
        try:
            completed(record.raised, serve)  # answered, though a signal comes between
        finally:
            record.is_evaluating = False

    if evaluations.is_stuck(record):
        evaluations.give_up(record)
        engine.threads.start(serve)
    else:
        record.inbox.put(serve_held)
    return LATER


def is_hexadecimal(arguments: dict[str, Any]) -> bool:
    """Whether the debugger wants integers shown as hexadecimal numbers: in values, and inside of them."""
    wanted = arguments.get("format")
    return type(wanted) is dict and wanted.get("hex") is True


def _shown(value: Any, hexadecimal: bool) -> dict[str, Any]:
    from trio_debugmcp.probe.inside import evaluation

    text = evaluation.text_of(value, _MOST_TEXT, hexadecimal)
    return {"result": text, "type": type(value).__name__, "variablesReference": 0}


def _reason(error: BaseException, *, is_raised_later: bool) -> str:
    """Return why there is no value."""
    if isinstance(error, RequestRefusedError):
        return str(error)
    text = _error_text(error)
    return f"{text} ({_RAISED_LATER})" if is_raised_later else text


_RAISED_LATER = "of a signal: it is raised in the program as well when that continues"


def _error_text(error: BaseException) -> str:
    try:
        import traceback  # needed only where code fails

        return "".join(traceback.format_exception_only(type(error), error)).strip()
    except Exception:
        return type(error).__name__
