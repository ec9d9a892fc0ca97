"""The requests that look into the program."""

import sys
from typing import Any

from trio_debugmcp.engine.inside.reported_modules import ReportedModules
from trio_debugmcp.engine.inside.request_table import EngineRequest, RequestRefusedError, RequestTable

_MOST_TEXT = 5000


class LookingRequests:
    """Threads, stacks, modules and values."""

    def __init__(self, engine: Any) -> None:
        self._engine = engine
        self._modules: ReportedModules = engine.modules

    def add_to(self, table: RequestTable) -> None:
        table.add(
            threads=self._threads,
            stackTrace=self._stack_trace,
            exceptionInfo=self._exception_info,
            source=self._source,
            modules=self._list_modules,
            completions=self._completions,
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
        asked = frames[start : start + count]
        shown = [self._engine.frames.described(record, each) for each in asked]
        for each, description in zip(asked, shown):
            self._modules.report(description["source"]["path"], each)
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
            "caughtBy": stop.caught_by,
        }

    def _source(self, request: EngineRequest) -> Any:
        source = request.arguments.get("source") or {}
        number = source.get("sourceReference") or request.arguments.get("sourceReference")
        threads = self._engine.threads
        held = [record for record in map(threads.of, threads.tops()) if record.is_held]
        frames = (frame for record in held for frame in self._engine.frames.all_of(record))
        text = self._engine.sources.text(number, sys.modules, frames)
        if text is None:
            raise RequestRefusedError("neither `linecache` nor a variable of the frames around it has one that fits")
        return {"content": text}

    def _list_modules(self, request: EngineRequest) -> Any:
        start = int(request.arguments.get("startModule") or 0)
        count = int(request.arguments.get("moduleCount") or 0)
        listed = self._modules.listed
        return {"modules": listed[start : start + count if count else None], "totalModules": len(listed)}

    def _completions(self, request: EngineRequest) -> Any:
        from trio_debugmcp.probe.inside.safe import fitting_names  # loaded with the first question

        arguments = request.arguments
        frame = None
        if arguments.get("frameId") is not None:
            found = self._engine.frames.find(arguments["frameId"])
            if found is None or not found[0].is_held:
                raise RequestRefusedError("there is no such frame: its thread has continued")
            frame = found[1]
        text, line, column = str(arguments["text"]), int(arguments.get("line") or 1), int(arguments["column"])
        return {"targets": fitting_names.completions(text, line, column, frame)}
