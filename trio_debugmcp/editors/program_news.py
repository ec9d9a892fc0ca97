"""`ProgramNews`: what an editor's program has written, and which sources of it have become known, as events."""

from trio_debugmcp.editors.editor import Editor
from trio_debugmcp.session.output.output_tail import OutputTail

SHOWN_CHARACTERS = 64_000
"""Of what was written before an editor has joined; a person reads the end of it."""

_CATEGORIES = {"stdout": "stdout", "stderr": "stderr", "console": "console", "tracepoint": "console"}


class ProgramNews:
    """What was reported to one editor of a program that it shows, and is not to be reported again."""

    def __init__(self, editor: Editor) -> None:
        self._editor = editor
        self._tail: OutputTail | None = None
        self._console: object = None
        self._sources: object = None
        self._known_sources = 0

    def __repr__(self) -> str:
        return f"<ProgramNews for {self._editor!r}>"

    def report_sources(self) -> None:
        """Report which sources have become known: those from before it joined an editor asks for."""
        editor, program = self._editor, self._editor.debugger.programs.of(self._editor.session_id or "")
        if program is None:
            return
        if program.sources is not self._sources:
            self._known_sources = len(program.sources.since(0)) if self._sources is None else 0
            self._sources = program.sources
        fresh = program.sources.since(self._known_sources)
        self._known_sources += len(fresh)
        for path in fresh:
            editor.channel.event("loadedSource", {"reason": "new", "source": editor.source_of(path)})

    def report_output(self) -> None:
        """Report what was written since; to one that has just joined the end of it."""
        editor = self._editor
        program = editor.debugger.programs.of(editor.session_id or "")
        if program is not None and program.console is not self._console:
            self._console = program.console
            self._tail = OutputTail(program.console, show_secrets=editor.debugger.settings.show_secrets)
            left_out = self._tail.skip_to_last(SHOWN_CHARACTERS)
            if left_out:
                editor.channel.event("output", {"category": "console", "output": f"… {left_out} characters before\n"})
        for stream, text in () if self._tail is None else self._tail.news():
            editor.channel.event("output", {"category": _CATEGORIES[stream], "output": text})
