"""Which processes others have started, and which of an adapter's is the program."""

import os
from collections.abc import Mapping

import pytest

from trio_debugmcp.dap import descendants, pids
from trio_debugmcp.dap.descendants import descendants_of, launched_process

ADAPTER, SERVER, PROGRAM, CHILD, OTHER = 10, 11, 12, 13, 20
"""An adapter, what traces for it, the program, what that has started, and a process of another parent."""


@pytest.fixture(autouse=True)
def machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine with these processes only."""
    parents = {ADAPTER: 1, SERVER: ADAPTER, PROGRAM: SERVER, CHILD: PROGRAM, OTHER: 1, 14: SERVER}
    monkeypatch.setattr(descendants, "all_processes", lambda: [*parents, 99])  # one has ended meanwhile
    monkeypatch.setattr(descendants, "parent_of", parents.get)
    like(monkeypatch)


def like(
    monkeypatch: pytest.MonkeyPatch, tracers: Mapping[int, int] | None = None, lines: Mapping[int, str] | None = None
) -> None:
    monkeypatch.setattr(descendants, "tracer_of", (tracers or {}).get)
    monkeypatch.setattr(descendants, "command_line_of", lambda pid: (lines or {}).get(pid, ""))


def test_descendants_are_those_of_descendants_too_and_none_of_those_that_are_asked_about() -> None:
    assert descendants_of([SERVER]) == {PROGRAM: SERVER, CHILD: PROGRAM, 14: SERVER}
    assert descendants_of([SERVER, PROGRAM]) == {CHILD: PROGRAM, 14: SERVER}
    assert descendants_of([]) == {}


def test_the_program_is_what_a_process_of_the_adapter_traces(monkeypatch: pytest.MonkeyPatch) -> None:
    like(monkeypatch, {PROGRAM: SERVER})
    assert launched_process(ADAPTER, None) == PROGRAM
    like(monkeypatch, {PROGRAM: ADAPTER, CHILD: ADAPTER})
    assert launched_process(ADAPTER, None) == PROGRAM


def test_the_program_is_what_has_the_command_line_of_one_where_nothing_is_traced(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    jvm = "java\0-agentlib:jdwp=transport=dt_socket\0Shop\0"
    like(monkeypatch, lines={ADAPTER: jvm, PROGRAM: jvm, CHILD: jvm, OTHER: jvm})
    assert launched_process(ADAPTER, r"\x00-agentlib:jdwp=") == PROGRAM
    assert launched_process(ADAPTER, None) is None


def test_what_is_not_sure_is_not_said(monkeypatch: pytest.MonkeyPatch) -> None:
    assert launched_process(ADAPTER, "java") is None
    like(monkeypatch, {PROGRAM: OTHER, OTHER: OTHER})  # traced by a process that is not the adapter's
    assert launched_process(ADAPTER, None) is None
    like(monkeypatch, {PROGRAM: SERVER, 14: SERVER})  # which of two?
    assert launched_process(ADAPTER, None) is None


def test_a_tracer_is_the_process_of_the_thread_that_traces(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = {
        "/proc/7/status": "Name:\tshop\nTgid:\t7\nTracerPid:\t12\n",
        "/proc/12/status": "Name:\tdlv\nTgid:\t9\nTracerPid:\t0\n",
    }
    monkeypatch.setattr(pids, "proc_text", lambda path: texts.get(path, ""))
    assert (pids.tracer_of(7), pids.tracer_of(12), pids.tracer_of(os.getpid())) == (9, None, None)
