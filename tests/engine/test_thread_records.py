"""The records of threads: each thread has one, also where two threads look for it at once."""

import _thread
import sys
import threading
from types import SimpleNamespace

import pytest

from trio_debugmcp.engine.inside.thread_records import ThreadRecords, arrival

THREADS = 8
ROUNDS = 150
"""The two looks meet in about one of ten."""


def lost_records() -> int:
    """Return how many threads have a record that is not found by its number."""
    records = ThreadRecords(_thread.get_ident())
    own = []
    gate = threading.Barrier(THREADS + 1)

    def come_by_an_event() -> None:
        gate.wait()
        own.append(records.current())
        gate.wait()

    threads = [threading.Thread(target=come_by_an_event) for _ in range(THREADS)]
    for thread in threads:
        thread.start()
    gate.wait()
    for thread in threads:
        records.of(thread.ident or 0)  # as the thread that stops looks at the others
    gate.wait()
    for thread in threads:
        thread.join()
    return sum(records.by_id(record.id) is not record for record in own)


def test_a_thread_that_comes_by_while_another_one_looks_at_it_has_one_record() -> None:
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        assert sum(lost_records() for _ in range(ROUNDS)) == 0
    finally:
        sys.setswitchinterval(interval)


def test_a_thread_keeps_its_number_while_its_destructors_run_and_another_thread_gets_a_new_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    objects = {1: threading.Thread()}
    monkeypatch.setattr(ThreadRecords, "object_of", staticmethod(objects.get))
    records = ThreadRecords(_thread.get_ident())
    number = records.of(1).id
    del objects[1]  # as `threading` does before the last code of the thread runs
    assert records.of(1).id == number
    objects[1] = threading.Thread()
    assert records.of(1).id != number


def test_what_c_code_has_caught_has_not_come_to_where_the_same_frame_raises_it_again() -> None:
    error, frame = AttributeError("price"), SimpleNamespace(f_lasti=8)
    unwound = arrival(error, frame)  # from the frame that `hasattr` has called
    assert unwound == arrival(error, frame)
    assert unwound not in (arrival(AttributeError("price"), frame), arrival(error, SimpleNamespace(f_lasti=8)))
    frame.f_lasti = 20
    assert unwound != arrival(error, frame)
