import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from trio_debugmcp.kept.place import Place
from trio_debugmcp.kept.stops import HINT, present_stop, stops


@pytest.fixture
def place(monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    with TemporaryDirectory() as directory:
        monkeypatch.setenv("XDG_RUNTIME_DIR", directory)
        yield Place.of(directory)


@contextmanager
def served(place: Place) -> Iterator[None]:
    """As a server does that holds the place."""
    place.make()
    with open(place.serving_lock, "a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def test_the_present_stop_is_said_while_there_is_one(place: Place) -> None:
    assert present_stop(place) is None
    with served(place):
        assert present_stop(place) is None
        place.write_stop("7 Breakpoint at /app/shop.py:3 in pay")
        assert present_stop(place) == f"The debugger has stopped a program: Breakpoint at /app/shop.py:3 in pay. {HINT}"
        place.write_stop(None)
        assert present_stop(place) is None


def test_a_killed_servers_stop_is_not_said(place: Place) -> None:
    with served(place):
        place.write_stop("7 Breakpoint at /app/shop.py:3")
    assert present_stop(place) is None


def test_a_directory_that_others_may_enter_is_not_believed(place: Place) -> None:
    with served(place):
        place.write_stop("7 Breakpoint at /app/shop.py:3")
        Path(place.directory).chmod(0o777)
        assert present_stop(place) is None


def test_each_stop_that_comes_is_one_line_also_a_second_one_at_the_same_place(place: Place) -> None:
    writes = iter(["1 Step at a.py:1", "1 Step at a.py:1", None, "2 Step at a.py:1", None, None, "3 Pause at a.py:9"])
    with served(place):
        place.write_stop("0 Entry at a.py:1")
        lines = list(islice(stops(place, lambda _: place.write_stop(next(writes))), 3))
    assert [line.partition(": ")[2].removesuffix(f". {HINT}") for line in lines] == [
        "Step at a.py:1",
        "Step at a.py:1",
        "Pause at a.py:9",
    ]


def test_a_full_disk_does_not_end_the_server(place: Place) -> None:
    place.write_stop("1 Step at a.py:1")  # its directory is not there
    place.write_stop(None)
