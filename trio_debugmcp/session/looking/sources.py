"""Which source files may be read: those that the debugged program is known to consist of, and no others.

A path is known literally, as the debug information spells it, together with the file that it led to when it became
known. A request must spell a known path exactly, and the path must still lead to the same file. So neither `..` nor a
symbolic link, new or old, opens anything else.
"""

import hashlib
import io
import os
import stat
import tokenize
from contextlib import suppress
from itertools import islice
from pathlib import Path

from msgspec import Struct

from trio_debugmcp.dap.profiles.python.notebooks import SUFFIX, notebook_script
from trio_debugmcp.errors import UsageError
from trio_debugmcp.session.host import Host
from trio_debugmcp.session.looking.archived_sources import archive_of, archived_source, is_archived
from trio_debugmcp.state.model import SourceText
from trio_debugmcp.state.payloads import UnixTime

MAX_SOURCE_BYTES = 8 * 1024 * 1024
"""The largest file served: far above what people write, below what would hurt an MCP client."""


MAX_KEPT_CHARACTERS = 1_000_000
"""Of a text that is kept with a stop: all stops together have 8 MB."""


MAX_VERSIONS = 64
"""Files whose texts are ready for the next stop of a process; one beyond these is read again."""

MAX_KEPT_VERSIONS = 4
"""Texts that are kept of a file that is edited while processes run that began before."""


MAX_READ_CHARACTERS = 64_000_000
"""Of all texts that are kept of files, so that a session of days and many files does not fill the memory."""


class KnownSource(Struct, frozen=True):
    """A source of the program: a file, or with `reference` above 0 a text that only a session's adapter has.

    `text` is that of code which was given to the launch, and is in no file.
    """

    path: str
    real_path: str | None
    session_id: str
    reference: int = 0
    text: str | None = None


class RunningSource(Struct, frozen=True):
    """The text of a file as far as it is known to run; `edited`: the file has been changed since the program began.

    `from_before`: the text is that of before the change.
    """

    text: str
    edited: bool = False
    from_before: bool = False


class Sources:
    """The known sources of one session tree; with `roots`, only those below one of them."""

    def __init__(self, roots: tuple[str, ...] = ()) -> None:
        self.roots = roots
        self._known: dict[str, KnownSource] = {}
        self._read: dict[str, list[tuple[float | None, str]]] = {}
        self._versions: dict[tuple[str, float | None, UnixTime | None], SourceText | None] = {}
        self._told: dict[str, str] = {}

    def learn(self, path: str | None, session_id: str, reference: int = 0) -> None:
        """Record that the debugger has named this path; `reference` above 0: only the adapter has its text."""
        if path and reference and is_archived(Path(path)):
            reference = 0  # pydevd offers what it has disassembled
        if not path or ((known := self._known.get(path)) and (known.reference == reference or not reference)):
            return
        if self.code(path) is not None:
            return  # pydevd offers a text of its own, disassembled
        real = _real_path(path) if Path(path).is_absolute() else None
        if real is not None and not is_within(self.roots, real):
            return  # a library's file, on a server that is confined to its roots
        self._known[path] = KnownSource(path, real, session_id, reference)

    def tell(self, path: str, text: str) -> None:
        """Record the text that an adapter has of a source at a stop, empty for none; at the next it may be another."""
        self._told.pop(path, None)
        if text:
            self._told[path] = text
        if len(self._told) > MAX_VERSIONS:
            del self._told[next(iter(self._told))]

    def learn_code(self, name: str, text: str) -> None:
        """Record the code that was given to the launch, and the name that frames have for its file."""
        self._known[name] = KnownSource(name, None, "", text=text)

    def code(self, name: str) -> str | None:
        """Return the text that was recorded by `learn_code` under this name."""
        known = self._known.get(name)
        return None if known is None else known.text

    def __repr__(self) -> str:
        return f"<Sources, {len(self._known)} known>"

    def __contains__(self, path: str) -> bool:
        return path in self._known

    def known(self) -> list[str]:
        """Return every known path, sorted."""
        return sorted(self._known)

    def since(self, number: int) -> list[str]:
        """Return the paths that are known beyond the first so many, in the order in which they became known."""
        return list(islice(self._known, number, None)) if len(self._known) > number else []

    def running(self, path: str, began: UnixTime | None, host: Host) -> RunningSource:
        """Return the text that a process runs which has begun then.

        What was read of a file before it was changed is kept for the processes that had begun before the change; one
        that has begun after it runs the new text.

        Raises:
            UsageError: `INVALID_PATH` or `PERMISSION_DENIED`.
        """
        source = self.find(path)
        if source.text is not None:
            return RunningSource(source.text)
        if source.reference and path in self._told:
            return RunningSource(self._told[path])
        if source.reference:
            raise UsageError("INVALID_PATH", f"Only the debug adapter has the text of '{path}'.", {"path": path})
        changed = self._changed(path, host)
        edited = changed is not None and began is not None and changed > began
        kept = self._read.pop(path, [])
        if kept:
            self._read[path] = kept  # behind those that have not been asked for since
        known = [text for when, text in kept if began is None or when is None or when <= began]
        if known and (edited or (began is None and changed is not None and kept[-1][0] != changed)):
            return RunningSource(known[-1], edited=True, from_before=True)
        if changed is not None and kept and kept[-1][0] == changed:
            return RunningSource(kept[-1][1], edited=edited)  # every stop asks: what has not been changed is not read
        text = host.query(f"source {path}", lambda: read_source(source))
        if not kept or kept[-1] != (changed, text):
            self._read[path] = [*kept, (changed, text)][-MAX_KEPT_VERSIONS:]
            self._forget_oldest()
        return RunningSource(text, edited=edited)

    def _forget_oldest(self) -> None:
        """Keep within the bound: what is forgotten is read again, or said to have been edited since."""
        sizes = {path: sum(len(text) for _, text in kept) for path, kept in self._read.items()}
        left = sum(sizes.values())
        for path in list(sizes)[:-1]:
            if left <= MAX_READ_CHARACTERS:
                return
            left -= sizes[path]
            del self._read[path]

    @staticmethod
    def _changed(path: str, host: Host) -> float | None:
        try:
            changed: float | None = host.query(f"change of {path}", lambda: _changed(path))
        except UsageError:  # a recording from before this was asked
            return None
        return changed

    def version(self, path: str, began: UnixTime | None, host: Host) -> SourceText | None:
        """Return the text that a process runs, as the same object until it is another; None if it cannot be kept.

        It is asked for at every stop, so a file that has not been changed since is not read again.
        """
        changed = self._changed(path, host)
        key = (path, changed, began)
        if changed is not None and key in self._versions:
            return self._versions[key]
        try:
            text = self.running(path, began, host).text
        except UsageError:
            return None
        known = (each for (file, *_), each in self._versions.items() if file == path and each and each.text == text)
        version = next(known, None)
        if version is None and len(text) <= MAX_KEPT_CHARACTERS:
            digest = hashlib.blake2b(text.encode(errors="replace"), digest_size=6).hexdigest()
            version = SourceText(path, digest, text)
        self._versions.pop(key, None)
        self._versions[key] = version
        if len(self._versions) > MAX_VERSIONS:
            del self._versions[next(iter(self._versions))]
        return version

    def known_by_adapter(self, path: str) -> KnownSource | None:
        """Return the source with that path if only an adapter has its text."""
        source = self._known.get(path)
        return source if source is not None and source.reference and source.text is None else None

    def find(self, path: str) -> KnownSource:
        """Return the known source with exactly that path.

        Raises:
            UsageError: `INVALID_PATH`, with the public sentence.
        """
        source = self._known.get(path)
        if source is not None and path.startswith("</") and not source.reference:
            sentence = f"Code names the file '{path[1:-1]}' and does not come from it; its own text is not known"
            raise UsageError("INVALID_PATH", sentence, {"path": path})
        is_file = source is not None and source.reference == 0 and source.text is None
        if source is None or (is_file and not _leads_to(path, source.real_path)):
            raise UsageError(
                "INVALID_PATH",
                f"File path '{path}' is not referenced in any loaded debug symbols",
                {
                    "path": path,
                    "hint": "only files of the debugged program can be read: those seen in stack frames, "
                    "modules and verified breakpoints",
                },
            )
        return source


def _real_path(path: str) -> str | None:
    """Return the file that a path leads to; None for what cannot be a path, because it has a NUL in it, for example."""
    try:
        return os.path.realpath(path)
    except ValueError:
        return None


def _leads_to(path: str, real_path: str | None) -> bool:
    return real_path is not None and _real_path(path) == real_path


def is_within(roots: tuple[str, ...], real_path: str) -> bool:
    """Whether a file may be read on a server that is confined to these roots; to none: any."""
    return not roots or any(Path(real_path).is_relative_to(root) for root in roots)


def read_source(source: KnownSource) -> str:
    """Return the text of a source file, decoded as its language decodes it.

    Raises:
        UsageError: `INVALID_PATH`: it is not on disk, not a regular file, or too large. `PERMISSION_DENIED`.
    """
    path = Path(source.path)
    archive = archive_of(path)
    try:
        status = (archive or path).stat()
        if not stat.S_ISREG(status.st_mode):
            raise UsageError("INVALID_PATH", f"Source file '{path}' is not a regular file", {"path": source.path})
        if archive is None and status.st_size > MAX_SOURCE_BYTES:
            raise UsageError(
                "INVALID_PATH",
                f"Source file '{path}' has {status.st_size} bytes, more than the {MAX_SOURCE_BYTES} that are served",
                {"path": source.path},
            )
        data = path.read_bytes() if archive is None else archived_source(path, MAX_SOURCE_BYTES)
    except PermissionError:
        raise UsageError(
            "PERMISSION_DENIED",
            f"Source file '{path}' may not be read by the user who runs the debugger",
            {"path": source.path},
        ) from None
    except OSError:
        raise UsageError(
            "INVALID_PATH",
            f"Source file '{path}' referenced in debug symbols but not found on disk",
            {"path": source.path},
        ) from None
    if len(data) > MAX_SOURCE_BYTES:  # in an archive
        sentence = f"Source file '{path}' has more than the {MAX_SOURCE_BYTES} bytes that are served"
        raise UsageError("INVALID_PATH", sentence, {"path": source.path})
    return decode_source(data, path.suffix)


def _changed(path: str) -> float | None:
    try:
        return os.stat(path).st_mtime
    except NotADirectoryError:
        archive = archive_of(Path(path))
        return None if archive is None else _changed(str(archive))
    except (OSError, ValueError):
        return None


def decode_source(data: bytes, suffix: str) -> str:
    """Decode Python files as PEP 263 says and all others as UTF-8; undecodable bytes become U+FFFD."""
    encoding = "utf-8-sig"
    if suffix in {".py", ".pyw"}:
        with suppress(SyntaxError):
            encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
    text = data.decode(encoding, errors="replace")
    return notebook_script(text) if suffix == SUFFIX else text
