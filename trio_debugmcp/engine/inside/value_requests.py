"""The requests by which editors show and set values: scopes, variables, and the assignment to one of them."""

from typing import Any

from trio_debugmcp.engine.inside.evaluating_requests import evaluate_in, is_hexadecimal
from trio_debugmcp.engine.inside.numbered_values import MOST_CHILDREN, NumberedScope, NumberedValue, NumberedValues
from trio_debugmcp.engine.inside.request_table import EngineRequest, RequestRefusedError, RequestTable
from trio_debugmcp.probe.inside.debugger import attached

_MOST_TEXT = 1000
"""Characters of a value among others."""

_SIZE = 400_000
"""Characters of all values of an answer. Of `MOST_CHILDREN` that are long some are left out, and counted."""


class ValueRequests:
    """Scopes and variables."""

    def __init__(self, engine: Any) -> None:
        self._engine = engine
        self._values: NumberedValues = engine.frames.values

    def add_to(self, table: RequestTable) -> None:
        table.add(scopes=self._scopes, variables=self._variables, setVariable=self._set_variable)

    def _scopes(self, request: EngineRequest) -> Any:
        found = self._engine.frames.find(request.arguments.get("frameId"))
        if found is None or not found[0].is_held:
            raise RequestRefusedError("there is no such frame: its thread has continued")
        record, frame = found
        scopes = []
        for kind in ("locals", "globals"):
            number = self._values.scope(record, frame, kind)
            hint = {"presentationHint": "locals"} if kind == "locals" else {}
            scopes.append({"name": kind.capitalize(), "variablesReference": number, "expensive": False, **hint})
        return {"scopes": scopes}

    def _find(self, request: EngineRequest) -> NumberedValue | NumberedScope:
        found = self._values.find(request.arguments.get("variablesReference"))
        if found is None:
            raise RequestRefusedError("there is no such value: its thread has continued")
        return found

    def _variables(self, request: EngineRequest) -> Any:
        from trio_debugmcp.probe.inside import bounds
        from trio_debugmcp.probe.inside.values import rendering

        attached.debugger().begin_answer()
        shown, arguments = self._find(request), request.arguments
        start, count = int(arguments.get("start") or 0), int(arguments.get("count") or 0)
        if not self._has(shown, arguments.get("filter")):
            return {"variables": []}
        try:
            found, total = shown.children(start, count or MOST_CHILDREN)
        except (RuntimeError, IndexError) as error:
            raise RequestRefusedError(str(error)) from None
        budget = bounds.Budget(size=_SIZE)
        rows: list[dict[str, Any]] = []
        try:
            renderer = rendering.Renderer(budget, _MOST_TEXT, hexadecimal=is_hexadecimal(arguments))
            for child in found:
                if budget.spent():
                    break
                rows.append(self._row(shown, child, renderer))
        finally:
            budget.close()
        wanted = min(count, total - start) if count else total - start
        if len(rows) < wanted:
            rows.append({"name": "…", "value": f"<{wanted - len(rows)} more, not shown>", "variablesReference": 0})
        return {"variables": rows}

    def _has(self, shown: NumberedValue | NumberedScope, kind: str | None) -> bool:
        """Whether something has children of a kind; they all are of one."""
        from trio_debugmcp.probe.inside.values import children

        is_named = not isinstance(shown, NumberedValue) or children.is_named(shown.value)
        return kind is None or is_named == (kind == "named")

    def _row(self, shown: NumberedValue | NumberedScope, child: Any, renderer: Any) -> dict[str, Any]:
        from trio_debugmcp.probe.inside.values import facts, variable_listing

        name, _ = variable_listing.shown_name(child, renderer)
        row: dict[str, Any] = {"name": name, "value": child.note, "variablesReference": 0}
        if not child.note:
            row["value"] = renderer.render(child.value)
            row["type"] = facts.shown_type(type(child.value))
            row.update(self._values.described(shown.record, shown.frame, child.path, child.value))
        if child.path:
            row["evaluateName"] = child.path
        return row

    def _set_variable(self, request: EngineRequest) -> Any:
        shown = self._find(request)
        name, source = str(request.arguments["name"]), str(request.arguments["value"])

        def assign(frame: Any) -> Any:
            from trio_debugmcp.probe.inside import evaluation
            from trio_debugmcp.probe.inside.frame_names import FrameNames

            names = FrameNames(frame)
            try:
                value = eval(compile(source.strip(), "<evaluate>", "eval", dont_inherit=True), names.together)
            finally:
                names.write_back()
            shown.assign(name, value)
            inside = self._values.described(shown.record, frame, "", value)
            text = evaluation.text_of(value, _MOST_TEXT, hexadecimal=is_hexadecimal(request.arguments))
            return {"value": text, "type": type(value).__name__, **inside}

        return evaluate_in(self._engine, request, shown.record, shown.frame, assign)
