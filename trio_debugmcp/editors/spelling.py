"""`Spelling`: how an editor counts lines and columns, and writes paths. Ours count from 1, and are plain. Pure."""

from urllib.parse import quote, unquote, urlsplit

from trio_debugmcp.editors.arguments import InitializeArguments
from trio_debugmcp.editors.refusals import EditorRefusal
from trio_debugmcp.state.payloads import shortened


class Spelling:
    """The spelling of one editor."""

    def __init__(self, hello: InitializeArguments) -> None:
        self._line = 0 if hello.lines_start_at_1 else -1
        self._column = 0 if hello.columns_start_at_1 else -1
        self._uri = hello.path_format == "uri"

    def __repr__(self) -> str:
        return f"<Spelling lines from {1 + self._line}{', URIs' if self._uri else ''}>"

    def line(self, ours: int | None) -> int:
        """Return a line as the editor counts; one that is not known is its first."""
        return (ours or 1) + self._line

    def column(self, ours: int | None) -> int:
        """Return a column as the editor counts."""
        return (ours or 1) + self._column

    def path(self, ours: str) -> str:
        """Return a path as the editor writes it."""
        return f"file://{quote(ours)}" if self._uri and ours.startswith("/") else ours

    def our_line(self, line: int) -> int:
        """Return a line of the editor as we count."""
        return line - self._line

    def our_column(self, column: int | None) -> int | None:
        """Return a column of the editor as we count."""
        return None if column is None else column - self._column

    def our_path(self, path: str) -> str:
        """Return a path of the editor as we write it.

        Raises:
            EditorRefusal: it can be that of no file.
        """
        ours = path
        if path[:7].lower() == "file://":
            try:
                ours = unquote(urlsplit(path).path)
            except ValueError as error:
                raise EditorRefusal(f"`{shortened(path)}` is not a path: {error}.") from None
        if "\0" in ours:
            raise EditorRefusal("A path has no NUL characters.")
        return ours
