"""The requests that record a run of the program, from its start or a piece of it."""

from typing import Any

from trio_debugmcp.engine.inside.monitoring import NoToolError
from trio_debugmcp.engine.inside.request_table import EngineRequest, RequestRefusedError, RequestTable


class RecordingRequests:
    """`recordRun`, whose body is also `record` of a start, and `recordEnd`."""

    def __init__(self, engine: Any) -> None:
        self._engine = engine

    def add_to(self, table: RequestTable) -> None:
        table.add(recordRun=self._record, recordEnd=self._end)

    def _record(self, request: EngineRequest) -> Any:
        begin_recording(request.arguments, str(self._engine.files.home))
        return {}

    def _end(self, request: EngineRequest) -> Any:
        from trio_debugmcp.engine.inside.recorder.recording_start import current

        recording = current()
        if recording is None:
            raise RequestRefusedError("nothing is being recorded")
        recording.end("asked")
        return {}


def begin_recording(body: dict[str, Any], home: str) -> None:
    """Begin to record this process.

    Raises:
        RequestRefusedError: it cannot be, or it is recorded already.
    """
    # Not at the start of the engine: most programs are not recorded.
    from trio_debugmcp.engine.inside.recorder.recording_start import begin, current

    if current() is not None:
        raise RequestRefusedError("this process is being recorded already")
    try:
        begin(body, home)
    except NoToolError:
        raise RequestRefusedError(
            "other tools of the program use all numbers of sys.monitoring: let one free its own with "
            "sys.monitoring.free_tool_id"
        ) from None
    except OSError as error:
        raise RequestRefusedError(f"the files of the recording cannot be written: {error.strerror or error}") from None
