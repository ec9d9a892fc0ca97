"""The prompts: debugging procedures, written for an agent. They name only tools and parameters that exist."""

import json
from collections.abc import Callable, Mapping

import mcp_types as types
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS
from msgspec import Struct

from trio_debugmcp.server.naming import BY_NAME, Naming

_RULE = (
    "Work with the debugger, not by guessing from the source: every claim needs a value that you saw in the running "
    "program. Each tool that moves it answers with why and where it stopped, the stack, locals, source and output.\n"
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
            types.PromptArgument(name=argument.name, description=argument.description, required=argument.required)
            for argument in self.arguments
        ]
        return types.Prompt(name=self.name, title=self.title, description=self.description, arguments=arguments)


def find_prompt(name: str) -> Prompt:
    """Return the prompt with that name; the error for an unknown one names them all."""
    prompt = PROMPTS.get(name)
    if prompt is None:
        raise _refused(f"Unknown prompt '{name}'. Prompts: {', '.join(PROMPTS)}.")
    return prompt


def get_prompt(name: str, given: Mapping[str, str], naming: Naming = BY_NAME) -> types.GetPromptResult:
    """Answer `prompts/get`. Hosts send empty strings for arguments that the user left out.

    `naming`: how the client calls the tools.
    """
    prompt = find_prompt(name)
    known = [argument.name for argument in prompt.arguments]
    unknown = [each for each in given if each not in known]
    if unknown:
        raise _refused(f"{name} has no argument '{unknown[0]}'. Arguments: {', '.join(known)}.")
    missing = [
        argument.name for argument in prompt.arguments if argument.required and not given.get(argument.name, "").strip()
    ]
    if missing:
        raise _refused(f"{name} needs the argument '{missing[0]}'. Arguments: {', '.join(known)}.")
    text = naming.text(prompt.text({each: given.get(each, "").strip() for each in known}))
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


def _start(program: str, more: str = "") -> str:
    if program:
        return f"Start with `debug_launch(program={_quoted(program)}{more})`."
    return (
        "Look with `debug_state` whether a session is active. If not, ask which program or test to debug and start it "
        f"with `debug_launch(program=…{more})` or `debug_launch(test=…)`."
    )


def _diagnose_exception(given: Mapping[str, str]) -> str:
    kind = given["exception_type"]
    if kind:
        start = _start(given["program"], f', breakpoints=[{{"exception": {_quoted(kind)}}}]')
        stop = f"It stops where `{kind}` is raised, caught or not; `debug_continue` goes to the next one."
    else:
        start = _start(given["program"], ", stop_at_entry=false")
        stop = (
            "It stops where an exception is raised that nothing catches, with everything alive. If one is caught that "
            'should not be, use `breakpoint_set_exception(exception_type="*", break_on_user_unhandled=true, '
            "break_on_first_chance=false)`, which stops where it leaves the program's own code."
        )
    return _steps(
        f"Find out why the program raises {f'`{kind}`' if kind else 'an exception'}.",
        start,
        stop,
        "If it ends with reason Exited, the exception did not happen: look at the output and at what this run did "
        "differently.",
        "Read `exception`, `locals` and `source` of the stop. For its causes and the frames above use "
        "`exception_get_context(variables_for_frames=3)`, until you find the first value that is wrong.",
        "To see where that value comes from, use `debug_restart` after `breakpoint_set(file=…, line=…, "
        "log_message=…)` on the lines that make it: one run writes them all to `log`.",
        _END,
    )


def _find_bug_source(given: Mapping[str, str]) -> str:
    place = _place(given["file"], given["line"])
    return _steps(
        f"Find the cause of this symptom: {given['symptom']}",
        f"Reproduce it with a breakpoint where it shows, or where the wrong value is last written: set "
        f"`breakpoint_set({place})`. {_start(given['program'], ', show=[…]')} `show` holds what must be true there.",
        "In Python 3.12 and newer ask first: launch it with `record=true`, then `why()` if it fails, "
        "`why(expression=…)` for a wrong value, `why(file=…, line=…)` for a line that did not run; `why(at=…)` asks on "
        "from a number of the answer. Otherwise, or where that leads no further:",
        "Compare what you see with what should be: the locals of the stop, and `variables_get(path=…)` for what is "
        "inside of them.",
        "Halve the way: set `breakpoint_set(file=…, line=…, log_message=…)` at several places between the start and "
        "there, and `debug_restart`: one run shows where the values are still right, and where no more.",
        "One hypothesis a run: say what you expect before each, with `show` or a `condition`, and drop it when it does "
        "not hold.",
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
        "While it runs or hangs, `threads_list` says where each thread is and what it waits for, and "
        "`tasks_list` the same of the tasks of asyncio or Trio. To look closer stop it with `debug_pause`.",
        'See all stacks with `stacktrace_get(thread_id="*", locals=true)`, and say in a sentence for each what it '
        "does or waits for.",
        "Look inside with `variables_get(path=…, depth=2)`, in other frames with `variables_get(frame_index=…)`.",
        f"Above all look at `evaluate(expression={_quoted(expression)})`." if expression else "",
        'See what led here with `timeline_query(types=["stopped", "exception", "output"])` and `process_read_output`.',
        "Sum up: threads, what is held and what is waited for, and anything that looks wrong. Resume the "
        "program with `debug_continue(wait=false)`, or detach with `debug_disconnect(terminate=false)`.",
    )


def _trace_data_flow(given: Mapping[str, str]) -> str:
    variable = given["variable"]
    place = _place(given["file"], given["line"])
    message = _quoted(f"{variable} = {{{variable}!r}}")
    return _steps(
        f"Follow how `{variable}` changes while the program runs, without stopping it.",
        "In Python 3.12 and newer launch it once with `record=true`: then "
        f"`history_get(expression={_quoted(variable)})` has every write with the value before and after it, and "
        f"`why(expression={_quoted(variable)})` where the last one came from. Otherwise:",
        f"Set a tracepoint with `breakpoint_set({place}, log_message={message})`, and one at every other line that "
        "reads or writes it, each with a message that says where it is.",
        f"{_start(given['program'])} It runs to its end; or, in a session that waits, use `debug_continue`.",
        "Read the sequence in `log` of the answer; what does not fit in it is in "
        '`process_read_output(stream="tracepoint")`.',
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
