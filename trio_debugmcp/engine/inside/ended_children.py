"""`EndedChildren`: how processes have ended that the program has waited for. Only their parent learns that."""

import posix
import sys
from typing import Any, Callable

from trio_debugmcp.engine.inside.started_pythons import StandIn

_exit_code = posix.waitstatus_to_exitcode
_EXITED, _BY_SIGNAL = posix.CLD_EXITED, (posix.CLD_KILLED, posix.CLD_DUMPED)


class EndedChildren:
    """The functions of `os` that wait for a process, as the program has them.

    Args:
        report: Called with the process id and the exit code, negative for a signal.
    """

    def __init__(self, report: Callable[[int, int], None]) -> None:
        self._report = report

    def wrap(self) -> None:
        """Have the functions go through us from now on."""
        names, in_os = vars(sys.modules["posix"]), vars(sys.modules["os"])
        for name in ("wait", "waitpid", "wait3", "wait4", "waitid"):
            inner = names.get(name)
            if inner is None:
                continue
            names[name] = StandIn(self._reporting(inner), inner)
            if in_os.get(name) is inner:
                in_os[name] = names[name]

    def _reporting(self, inner: Any) -> Any:
        def wait(*arguments: Any, **more: Any) -> Any:
            found = inner(*arguments, **more)
            self._look_at(found)
            return found

        return wait

    def _look_at(self, found: Any) -> None:
        if type(found) is tuple:
            pid, status = found[:2]
            if pid > 0 and (posix.WIFEXITED(status) or posix.WIFSIGNALED(status)):
                self._report(pid, _exit_code(status))
        elif found is not None and found.si_code == _EXITED:
            self._report(found.si_pid, found.si_status)
        elif found is not None and found.si_code in _BY_SIGNAL:
            self._report(found.si_pid, -found.si_status)
