"""The prompts: debugging procedures, written for an agent. They name only tools and parameters that exist."""

import json
from collections.abc import Callable, Mapping

import mcp_types as types
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS
from msgspec import Struct

_RULE = (
    "Work with the debugger, not by guessing from the source: every claim needs a value that you saw in the running "
    "program. Each execution tool answers with the whole stop (reason, place, frames, locals, source, new output).\n"
)

_END = (
    "Say what the cause is, with file, line and the values that prove it, and what would fix it. "
    "End with `debug_disconnect`."
)


class Argument(Struct, frozen=True):
    """An argument of a prompt, as it is listed."""

    name: str
    description: str
    required: bool = False


class Prompt(Struct, frozen=True):
    """A prompt: how it is listed, and its text for given arguments. An argument that is not given is empty."""

    name: str
    title: str
    description: str
    arguments: tuple[Argument, ...]
    text: Callable[[Mapping[str, str]], str]

    def listed(self) -> types.Prompt:
        """Return the entry of this prompt in `prompts/list`."""
        arguments = [
            types.PromptArgument(name=each.name, description=each.description, required=each.required)
            for each in self.arguments
        ]
        return types.Prompt(name=self.name, title=self.title, description=self.description, arguments=arguments)


def find_prompt(name: str) -> Prompt:
    """Return the prompt with that name; the error for an unknown one names them all."""
    prompt = PROMPTS.get(name)
    if prompt is None:
        raise _refused(f"Unknown prompt '{name}'. Prompts: {', '.join(PROMPTS)}.")
    return prompt


def get_prompt(name: str, given: Mapping[str, str]) -> types.GetPromptResult:
    """Answer `prompts/get`. Hosts send empty strings for arguments that the user left out."""
    prompt = find_prompt(name)
    known = [each.name for each in prompt.arguments]
    unknown = [each for each in given if each not in known]
    if unknown:
        raise _refused(f"{name} has no argument '{unknown[0]}'. Arguments: {', '.join(known)}.")
    missing = [each.name for each in prompt.arguments if each.required and not given.get(each.name, "").strip()]
    if missing:
        raise _refused(f"{name} needs the argument '{missing[0]}'. Arguments: {', '.join(known)}.")
    text = prompt.text({each: given.get(each, "").strip() for each in known})
    message = types.PromptMessage(role="user", content=types.TextContent(type="text", text=text))
    return types.GetPromptResult(description=prompt.description, messages=[message])


def _refused(sentence: str) -> MCPError:
    return MCPError(code=INVALID_PARAMS, message=sentence)


def _steps(title: str, *steps: str) -> str:
    numbered = [f"{number}. {step}" for number, step in enumerate(filter(None, steps), 1)]
    return "\n".join([title, "", _RULE, *numbered])


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _place(file: str, line: str) -> str:
    """Return the parameters of a place, with an ellipsis for each that is not known."""
    return f"file={_quoted(file) if file else '…'}, line={line or '…'}"


def _start(program: str) -> str:
    if program:
        return f"Start with `debug_launch(program={_quoted(program)})`; it stops at the program's entry."
    return (
        "Look with `debug_state` whether a session is active. If not, ask which program to debug and start it with "
        "`debug_launch(program=…)`."
    )


def _diagnose_exception(given: Mapping[str, str]) -> str:
    wanted = given["exception_type"] or "*"
    what = f"`{given['exception_type']}`" if given["exception_type"] else "an exception"
    return _steps(
        f"Find out why the program raises {what}.",
        _start(given["program"]),
        f"Set `breakpoint_set_exception(exception_type={_quoted(wanted)})`. It stops at caught exceptions as well; if "
        "those are in the way, set it again with `breakpoint_set_exception(exception_type=…, "
        "break_on_first_chance=false)`.",
        "Run with `debug_continue`. If the reason is Exited, the exception did not happen: look at "
        "`process_read_output` and at what this run did differently.",
        "At the exception use `exception_get_context(variables_for_frames=3)`: its message, its causes, and the frames "
        "with their locals.",
        "Go up frame by frame with `variables_get(frame_index=…)` and `evaluate(expression=…, frame_index=…)` until "
        "you find the first value that is wrong.",
        "To see where that value comes from, set `breakpoint_set(file=…, line=…, condition=…)` before that place, then "
        "`debug_restart` and `debug_continue`.",
        _END,
    )


def _find_bug_source(given: Mapping[str, str]) -> str:
    place = _place(given["file"], given["line"])
    return _steps(
        f"Find the cause of this symptom: {given['symptom']}",
        _start(given["program"]),
        f"Set `breakpoint_set({place})` where the symptom shows, or where the wrong value is last written, and run "
        "there with `debug_continue`.",
        "Compare what you see with what should be: the locals of the stop, `variables_get(path=…)` for what is inside "
        "of them, and `evaluate(expression=…)` for what must hold.",
        "Halve the way: set a breakpoint about half-way between the start and the place, `debug_restart`, "
        "`debug_continue`, and look whether the values are still right. Continue with the half in which they turn "
        "wrong.",
        'When few lines are left, walk them with `debug_step(mode="over")` and `debug_step(mode="in")`, and find '
        "the one line before which all is right and after which it is wrong.",
        _END,
    )


def _inspect_runtime_state(given: Mapping[str, str]) -> str:
    start = (
        f"Attach with `debug_attach(pid={given['pid']})`; the program keeps running."
        if given["pid"]
        else _start(given["program"])
    )
    expression = given["expression"]
    return _steps(
        "Describe what the program is doing right now.",
        start,
        "If it runs, stop it with `debug_pause`.",
        "List the threads with `threads_list`; for each that matters use `stacktrace_get(thread_id=…)`, and say in a "
        "sentence what it does or waits for.",
        'Look at the variables with `variables_get(scope="locals", frame_index=…)`, and inside of them with '
        "`variables_get(path=…, depth=2)`.",
        f"Above all look at `evaluate(expression={_quoted(expression)})`." if expression else "",
        'See what led here with `timeline_query(types=["stopped", "exception", "output"])` and `process_read_output`.',
        "Sum up: threads, what is held and what is waited for, and anything that looks wrong. Resume the "
        "program with `debug_continue(wait=false)`, or detach with `debug_disconnect(terminate=false)`.",
    )


def _trace_data_flow(given: Mapping[str, str]) -> str:
    variable = given["variable"]
    place = _place(given["file"], given["line"])
    message = _quoted(f"{variable} = {{{variable}}}")
    return _steps(
        f"Follow how `{variable}` changes while the program runs, without stopping it.",
        _start(given["program"]),
        f"Set a tracepoint with `breakpoint_set({place}, log_message={message})`, and one at every other line that "
        "reads or writes it, each with a message that says where it is.",
        "Let it run with `debug_continue(timeout=30)`; tracepoints write and do not stop.",
        'Read the sequence with `timeline_query(types=["tracepoint"])`; continue with '
        '`timeline_query(types=["tracepoint"], after_event_id=…)` from its nextEventId.',
        "Where the sequence is not what it should be, set `breakpoint_set(file=…, line=…, condition=…)` for exactly "
        "that case, `debug_restart`, and look at the frames that lead there.",
        _END,
    )


_PROGRAM = Argument("program", "The program to launch; without it the current session is used.")

PROMPTS: dict[str, Prompt] = {
    prompt.name: prompt
    for prompt in (
        Prompt(
            "diagnose_exception",
            "Diagnose an exception",
            "Run to the exception, and find the value and the line that cause it",
            (_PROGRAM, Argument("exception_type", "The type, by short or full name; without it any exception.")),
            _diagnose_exception,
        ),
        Prompt(
            "find_bug_source",
            "Find the source of a bug",
            "From a symptom to the line where the values turn wrong, by halving the way",
            (
                Argument("symptom", "What is wrong, and what should be instead.", required=True),
                _PROGRAM,
                Argument("file", "The file where it shows."),
                Argument("line", "The line where it shows."),
            ),
            _find_bug_source,
        ),
        Prompt(
            "inspect_runtime_state",
            "Inspect a running program",
            "Stop a program, and say what its threads are doing and what they hold",
            (
                _PROGRAM,
                Argument("pid", "The process to attach to, instead of launching a program."),
                Argument("expression", "What to look at above all."),
            ),
            _inspect_runtime_state,
        ),
        Prompt(
            "trace_data_flow",
            "Trace the flow of data",
            "Follow a variable by tracepoints, without stopping the program",
            (
                Argument("variable", "The variable or expression to follow.", required=True),
                Argument("file", "The file where it is used.", required=True),
                Argument("line", "The first line to trace."),
                _PROGRAM,
            ),
            _trace_data_flow,
        ),
    )
}
"""The prompts, in the order in which they are listed."""
