"""What clients ask of the session in focus beside its variables: the text of a source, completions of what is typed."""

from trio_debugmcp.dap.messages import CompletionItem, CompletionsBody, SourceBody
from trio_debugmcp.errors import AdapterRefused, UsageError
from trio_debugmcp.session.debugger import Debugger
from trio_debugmcp.session.looking.by_adapter.adapter_sources import SOURCE_SECONDS, source_arguments
from trio_debugmcp.session.looking.sources import read_source

COMPLETION_SECONDS = 2.0
"""For the completions of an expression; a person has typed more by then."""


async def source_text(debugger: Debugger, path: str) -> str:
    """Return the text of a known source: from disk, or from the adapter if only it has it.

    Raises:
        UsageError: `INVALID_PATH` with the public sentence, or `PERMISSION_DENIED`.
    """
    source = debugger.programs.sources_with(path).find(path)
    if source.text is not None:
        return source.text
    if not source.reference:
        return debugger.host.query(f"source {path}", lambda: read_source(source))
    requests = debugger.session(source.session_id).requests
    try:
        return (await requests.request("source", source_arguments(source), SourceBody, seconds=SOURCE_SECONDS)).content
    except AdapterRefused as refusal:
        raise UsageError("INVALID_PATH", f"The debug adapter has no text for '{path}': {refusal.reason}") from None


async def expression_completions(debugger: Debugger, typed: str) -> list[CompletionItem]:
    """Return the adapter's completions of an expression in the top frame; none unless the program is paused.

    Raises:
        DebugError: the adapter does not answer, or refuses.
    """
    snapshot = debugger.state.focused
    if snapshot is None or snapshot.phase != "Paused" or not snapshot.stack.frames:
        return []
    requests = debugger.session(snapshot.id).requests
    if not requests.capabilities.supports_completions_request:
        return []
    column = len(typed.encode("utf-16-le")) // 2 + 1  # DAP counts UTF-16 code units
    arguments = {"frameId": snapshot.stack.frames[0].id, "text": typed, "column": column}
    body = await requests.request("completions", arguments, CompletionsBody, seconds=COMPLETION_SECONDS)
    return body.targets or []
