"""Threads of the system that `threading` knows by other identifiers, as gevent has it."""

import _thread
import sys
import threading
import time
from typing import Any, Dict, List

from trio_debugmcp.probe.inside.debugger.by_pydevd import PydevdView
from trio_debugmcp.probe.inside.debugger.seam import ProgramThread


def listed() -> List[ProgramThread]:
    """What the view lists while `threading` knows the main thread only, by a number of its own."""
    active: Dict[int, Any] = vars(threading)["_active"]
    before, gevent = dict(active), sys.modules.get("gevent")
    active.clear()
    active[12345] = threading.main_thread() if not before else before[_thread.get_ident()]
    sys.modules["gevent"] = threading
    try:
        return PydevdView().threads()
    finally:
        active.clear()
        active.update(before)
        del sys.modules["gevent"]
        if gevent is not None:
            sys.modules["gevent"] = gevent


def check_the_main_thread_has_its_name_and_the_identifier_by_which_its_frames_are_found() -> None:
    (main,) = [each for each in listed() if each.ident == _thread.get_ident()]
    assert main.name == "MainThread", main.name


def check_threads_that_the_debugger_has_started_are_not_listed_and_those_of_the_program_are() -> None:
    ends = _thread.allocate_lock()
    ends.acquire()
    names: Dict[str, Any] = {"__name__": "_pydevd_bundle.of_ours"}
    exec("def run(ends):\n    ends.acquire()", names)
    starts: Dict[str, Any] = {"__name__": "threading"}
    exec("def bootstrap(run, ends):\n    run(ends)", starts)
    own = _thread.start_new_thread(starts["bootstrap"], (names["run"], ends))
    other = _thread.start_new_thread(wait, (ends,))
    while not {own, other} <= set(sys._current_frames()):
        time.sleep(0.01)
    time.sleep(0.05)
    idents = [each.ident for each in listed()]
    ends.release()
    assert other in idents, idents
    assert own not in idents, idents


def wait(ends: Any) -> None:
    with ends:
        pass
