"""The requests that record a run of the program, from its start or a piece of it."""

from typing import Any

from trio_debugmcp.engine.inside.monitoring import NoToolError
from trio_debugmcp.engine.inside.request_table import EngineRequest, RequestRefusedError, RequestTable

_begun: list[bool] = []
"""Not empty once a recording has begun in this process: before, nothing of the recorder is loaded."""


class RecordingRequests:
    """`recordRun`, whose body is also `record` of a start, and `recordEnd`."""

    def __init__(self, engine: Any) -> None:
        self._engine = engine

    def add_to(self, table: RequestTable) -> None:
        table.add(recordRun=self._record, recordEnd=self._end)

    def _record(self, request: EngineRequest) -> Any:
        begin_recording(request.arguments, str(self._engine.files.home), self._engine.threads.own)
        return {}

    def _end(self, request: EngineRequest) -> Any:
        if not end_recording("asked"):
            raise RequestRefusedError("nothing is being recorded")
        return {}


def begin_recording(body: dict[str, Any], home: str, own_threads: set[int]) -> None:
    """Begin to record this process, but for our own threads. A fork of a recorded one is recorded already.

    A fork writes into the same directory.

    Raises:
        RequestRefusedError: it cannot be, or it is recorded already.
    """
    # Not at the start of the engine: most programs are not recorded.
    from trio_debugmcp.engine.inside.recorder.recording_start import begin, current

    known = current()
    if known is not None and str(known.body["directory"]) == str(body.get("directory")):
        known.leave_out(own_threads)
        return
    if known is not None:
        raise RequestRefusedError("this process is being recorded already")
    _begun.append(True)
    try:
        begin(body, home, own_threads)
    except NoToolError:
        raise RequestRefusedError(
            "other tools of the program use all numbers of sys.monitoring: let one free its own with "
            "sys.monitoring.free_tool_id"
        ) from None
    except OSError as error:
        raise RequestRefusedError(f"the files of the recording cannot be written: {error.strerror or error}") from None


def end_recording(how: str) -> bool:
    """End the recording of this process; return whether there was one."""
    if not _begun:
        return False
    from trio_debugmcp.engine.inside.recorder.recording_start import current

    known = current()
    if known is None:
        return False
    known.end(how)
    return True
