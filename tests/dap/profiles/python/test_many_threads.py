"""Suspending and resuming by pydevd: its own modules in a Python of their own, and threads that count what is done."""

import subprocess
import sys
from pathlib import Path

import pytest

from trio_debugmcp.dap.profiles.python.dialing_pydevd import debugpy_package
from trio_debugmcp.dap.profiles.python.many_threads import MANY_THREADS

pytestmark = pytest.mark.real

COUNTED = """
import sys, threading
sys.path.insert(0, sys.argv[1])
import pydevd
from _pydevd_bundle import pydevd_constants, pydevd_thread_lifecycle as lifecycle, pydevd_utils
looks, woken, traced = [], [], []
class Info:
    is_in_wait_loop = True
    pydev_state = pydev_step_cmd = pydev_original_step_cmd = suspend_type = 0
    pydev_step_stop = None
    def update_stepping_info(self):
        looks.append(self)
    def get_topmost_frame(self, thread):
        return sys._getframe()
class Debugger:
    def set_trace_for_frame_and_parents(self, ident, frame):
        traced.append(ident)
    def get_internal_queue_and_event(self, thread_id):
        event = threading.Event()
        event.set = lambda: woken.append(thread_id)
        return None, event
threads = [threading.Thread() for _ in range(50)]
for thread in threads:
    thread.additional_info = Info()
threads[7]._ident = threading.get_ident()
threads[9].pydev_do_not_trace = True
pydevd_utils.get_non_pydevd_threads = lambda: list(threads)
pydevd_constants.get_global_debugger = Debugger
exec(sys.argv[2], {"sys": sys})
assert pydevd.suspend_all_threads is lifecycle.suspend_all_threads
pydevd.suspend_all_threads(Debugger(), threads[0])
states = {thread.additional_info.pydev_state for thread in threads[1:9] + threads[10:]}
print(len(looks), states == {lifecycle.STATE_SUSPEND}, threads[0].additional_info.pydev_state, len(traced))
sys.modules["_pydevd_bundle.pydevd_comm"].resume_threads("*", except_thread=threads[0])
print(len(looks), {thread.additional_info.pydev_state for thread in threads[1:]} == {lifecycle.STATE_RUN}, len(woken))
"""


def test_all_threads_are_suspended_and_resumed_in_one_pass() -> None:
    vendored = str(Path(debugpy_package()) / "_vendored" / "pydevd")
    command = [sys.executable, "-c", COUNTED, vendored, MANY_THREADS]
    ran = subprocess.run(command, check=True, capture_output=True, text=True)
    assert ran.stdout.splitlines() == ["1 True 0 1", "2 True 49"]
