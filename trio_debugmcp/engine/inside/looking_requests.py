"""The requests that look into the program."""

import sys
from typing import Any

from trio_debugmcp.engine.inside.request_table import EngineRequest, RequestRefusedError, RequestTable

_MOST_TEXT = 5000


class LookingRequests:
    """Threads, stacks and values."""

    def __init__(self, engine: Any) -> None:
        self._engine = engine

    def add_to(self, table: RequestTable) -> None:
        table.add(
            threads=self._threads,
            stackTrace=self._stack_trace,
            exceptionInfo=self._exception_info,
            source=self._source,
        )

    def _threads(self, request: EngineRequest) -> Any:
        threads = self._engine.threads
        records = [threads.of(ident) for ident in threads.tops()]
        records.sort(key=lambda each: each.id)
        return {"threads": [{"id": each.id, "name": threads.name_of(each.ident)} for each in records]}

    def _stack_trace(self, request: EngineRequest) -> Any:
        record = self._engine.threads.by_id(request.arguments.get("threadId"))
        if record is None:
            raise RequestRefusedError("there is no such thread")
        frames = self._engine.frames.shown_of(record)
        start = int(request.arguments.get("startFrame") or 0)
        count = int(request.arguments.get("levels") or 0) or len(frames)
        shown = [self._engine.frames.described(record, each) for each in frames[start : start + count]]
        return {"stackFrames": shown, "totalFrames": len(frames)}

    def _exception_info(self, request: EngineRequest) -> Any:
        record = self._engine.threads.by_id(request.arguments.get("threadId"))
        stop = None if record is None else record.stop
        if stop is None or stop.exception is None:
            raise RequestRefusedError("the thread is not stopped at an exception")
        from trio_debugmcp.probe.inside import bounds
        from trio_debugmcp.probe.inside.values import facts, rendering

        kind, value, _ = stop.exception
        name = facts.type_name(kind)
        budget = bounds.Budget()
        try:
            message = rendering.Renderer(budget).message(value, _MOST_TEXT)
        finally:
            budget.close()
        return {
            "exceptionId": name,
            "description": message,
            "breakMode": stop.mode,
            "details": {"typeName": name, "message": message},
        }

    def _source(self, request: EngineRequest) -> Any:
        source = request.arguments.get("source") or {}
        number = source.get("sourceReference") or request.arguments.get("sourceReference")
        text = self._engine.sources.text(number, sys.modules)
        if text is None:
            raise RequestRefusedError("the source is not known")
        return {"content": text}
