"""The classes that are made of a file of Kotlin or Scala are found without holding up the other sessions."""

import threading
from pathlib import Path
from typing import Any, cast

import pytest

from trio_debugmcp.dap.profiles import profile_named
from trio_debugmcp.dap.profiles.java.java_expressions import JavaCode
from trio_debugmcp.dap.profiles.starts import Launch
from trio_debugmcp.session.breakpoints.source_places import SourcePlaces
from trio_debugmcp.session.host import Host


class NoSources:
    def code(self, file: str) -> None:
        return None


async def test_the_class_path_is_read_in_a_thread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    profile = profile_named("java")
    assert profile is not None
    read_in = []

    def classes_of(self: JavaCode, file: str, text: str | None, class_path: str) -> list[tuple[str, list[int]]]:
        read_in.append(threading.current_thread())
        return [("ShelfKt", [1])]

    monkeypatch.setattr(JavaCode, "classes_of", classes_of)
    start = Launch(program=str(tmp_path / "shelf.kt"))
    places = SourcePlaces(profile, Host(), cast("Any", NoSources()), start)
    assert await places.classes(str(tmp_path / "shelf.kt"), "") == [("ShelfKt", [1])]
    assert read_in[0] is not threading.main_thread()
    assert await places.classes(str(tmp_path / "Shelf.java"), "") == []
