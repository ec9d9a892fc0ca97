"""The names of the tools, by the modules that have them, and those that may be meant by a name that no tool has.

Imports no tool, so that a shell can look a name up without a server.
"""

from collections.abc import Sequence

FAMILIES = {
    "starting.configurations": ("debug_launch", "debug_configurations"),
    "starting.sessions": ("debug_attach", "debug_disconnect", "debug_restart", "debug_state"),
    "starting.listening": ("debug_listen",),
    "moving.run_control": ("debug_continue", "debug_step", "debug_run_to", "debug_wait", "breakpoint_wait"),
    "moving.going": ("debug_goto",),
    "moving.experiments": ("batch_evaluate", "debug_run_until"),
    "moving.pausing": ("debug_pause",),
    "breakpoints.breakpoints": (
        *("breakpoint_set", "breakpoint_set_exception", "breakpoint_enable", "breakpoint_remove", "breakpoint_list"),
    ),
    "breakpoints.editing": ("breakpoint_edit",),
    "breakpoints.addressed": ("breakpoint_set_data",),
    "breakpoints.tracepoints": ("tracepoint_set",),
    "moving.tracing": ("trace_function",),
    "looking.stacks": ("stacktrace_get",),
    "looking.threads": ("threads_list", "tasks_list"),
    "looking.fleet_state": ("fleet_state",),
    "looking.inspection": ("variables_get", "evaluate"),
    "looking.exceptions": ("exception_get_context",),
    "looking.safely": ("evaluate_safe",),
    "looking.objects": ("object_inspect", "collection_summarize"),
    "looking.symbols": ("type_get", "symbols_search"),
    "looking.references": ("references_get",),
    "looking.setting": ("variable_set",),
    "looking.source": ("source_get",),
    "looking.loaded": ("modules_list", "sources_list"),
    "looking.snapshots": ("snapshot_create", "snapshot_diff", "snapshot_list", "snapshot_delete"),
    "looking.past": ("stop_get",),
    "looking.memory": ("memory_read", "memory_write", "disassemble"),
    "runs.asking_why": ("why",),
    "runs.run_histories": ("history_get", "calls_get"),
    "runs.run_goto": ("run_goto",),
    "runs.run_compare": ("run_compare",),
    "runs.debug_hunt": ("debug_hunt",),
    "runs.run_list": ("run_list",),
    "runs.recording_pieces": ("debug_record",),
    "looking.program_streams": ("process_read_output", "process_write_input"),
    "timeline": ("timeline_query",),
    "people.people": (
        *("ask_person", "person_join", "session_hold", "session_hand_back", "agent_message", "person_answer"),
    ),
    "people.watch_link": ("observe_link",),
    "card_tools": ("card_state", "card_run"),
}
"""The modules with the tools, in the order in which these are listed, and the tools of each."""

_MAX_MEANT = 3


def tools_meant(name: str, named: Sequence[str]) -> str:
    """Return the question whether some of these tools are meant by a name; empty if none is like it."""
    from difflib import get_close_matches  # for a mistake only

    near = [each for each in named if name and name in each] or get_close_matches(name, named)
    return f" Do you mean {' or '.join(near[:_MAX_MEANT])}?" if near else ""
