"""`Children`: processes that the program starts get the engine, too, and dial in as the program did.

A fork has it already: it dials in again, by the same door. A new interpreter finds the directory with our
`sitecustomize` in the environment, where C code looks for it; the program's own `os.environ` does not have it. Where
the program makes an environment for a child, the directory is added on its way.

A thread of ours would make the interpreter warn about each fork: it ends before one, and begins again after it.
"""

import posix
import sys
from typing import Any, Callable

from trio_debugmcp.engine.inside import interruptions

_PATH = b"PYTHONPATH="

_ENVIRONMENT = 5
"""Position of the environment among the arguments of `_posixsubprocess.fork_exec`."""

_COUNTS_LATE = sys.version_info >= (3, 13)
"""Whether the interpreter counts the threads only when these functions have been called."""

_environ = posix.environ

_addaudithook = sys.addaudithook
_modules = sys.modules


class Children:
    """What is done around the starts of children.

    Attributes:
        are_debugged: whether they dial in at all.
        parent: in a fork the process that it is one of, which may have ended since; else 0.
    """

    def __init__(self, home: str) -> None:
        self.are_debugged = True
        self.parent = 0
        self._home = home.encode()
        self._engine: Any = None
        self._again: Callable[[], None] = lambda: None
        self._wrapped: Any = None
        self._inner: Any = None

    def watch(self, engine: Any, again: Callable[[], None]) -> None:
        """Follow the children of this process from now on; `again` starts the engine anew in a fork."""
        known, self._engine, self._again = self._engine, engine, again
        if known is None:
            posix.register_at_fork(
                before=self._before_fork, after_in_child=self._in_child, after_in_parent=self._in_parent
            )
            _addaudithook(self._audit)
            self._wrap_replacements()

    def take_along(self) -> None:
        """Have children of a program that was started without the engine find it, too."""
        given = _environ.get(b"PYTHONPATH", b"").decode("utf-8", "surrogateescape")
        posix.putenv("PYTHONPATH", f"{self._home.decode()}:{given}" if given else self._home.decode())

    def leave_alone(self) -> None:
        """Have children start without the engine."""
        self.are_debugged = False
        own = self._home.decode()
        given = _environ.get(b"PYTHONPATH", b"").decode("utf-8", "surrogateescape").split(":")
        rest = [each for each in given if each and each != own]
        if rest:
            posix.putenv("PYTHONPATH", ":".join(rest))
        else:
            posix.unsetenv("PYTHONPATH")

    # --- Forks --------------------------------------------------------------------------------------------------------

    def _before_fork(self) -> None:
        self._engine.reader.rest()

    def _in_parent(self) -> None:
        if _COUNTS_LATE:
            self._engine.events.at_next_event(self._engine.reader.resume)
        else:
            self._engine.reader.resume()

    def _in_child(self) -> None:
        engine = self._engine
        self.parent = engine.pid
        follows = self.are_debugged and not engine.is_over
        engine.forget_parent()
        if follows:
            self._again()

    # --- New interpreters ---------------------------------------------------------------------------------------------

    def _audit(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event == "subprocess.Popen":
            self._wrap()
        elif event == "os.exec" and not self._engine.is_over:
            self._engine.event("exited", {"exitCode": 0, "pydevdReason": "processReplaced"})

    def _wrap(self) -> None:
        """Have what starts a process for `subprocess` go through us."""
        module = _modules.get("subprocess")
        names = vars(module) if module is not None else {}
        inner = names.get("_fork_exec")
        if inner is None or inner is self._wrapped:
            return
        self._inner = inner

        def fork_exec(*arguments: Any) -> Any:
            return inner(*self._with_engine(arguments))

        names["_fork_exec"] = self._wrapped = fork_exec

    def _wrap_replacements(self) -> None:
        """Have functions that take an environment go through us: they would run a Python without the engine."""
        for module in ("os", "posix"):
            names = vars(_modules[module])
            for name in ("execve", "posix_spawn", "posix_spawnp"):
                inner = names.get(name)
                if inner is not None:
                    names[name] = self._through(inner)

    def _through(self, inner: Any) -> Any:
        def run(path: Any, argv: Any, env: Any, *rest: Any, **more: Any) -> Any:
            try:
                return inner(path, argv, self._environment(env), *rest, **more)
            except BaseException as error:
                raise interruptions.as_the_programs(error) from None

        run.__name__ = run.__qualname__ = inner.__name__
        return run

    def _environment(self, environment: Any) -> Any:
        """Return an environment with the directory in it."""
        if self._engine.is_over or not self.are_debugged:
            return environment
        try:
            made = dict(environment)
        except (TypeError, ValueError):
            return environment
        given = made.pop(b"PYTHONPATH", None) or made.pop("PYTHONPATH", None) or b""
        given = given.encode() if type(given) is str else given
        made[b"PYTHONPATH"] = self._home + (b":" + given if given else b"")
        return made

    def _with_engine(self, arguments: tuple[Any, ...]) -> tuple[Any, ...]:
        environment = arguments[_ENVIRONMENT]
        if type(environment) is not list or self._engine.is_over or not self.are_debugged:
            return arguments
        rest = [each for each in environment if not each.startswith(_PATH)]
        given = [each[len(_PATH) :] for each in environment if each.startswith(_PATH)]
        path = b":".join([self._home, *(each for each in given if each)])
        before, after = arguments[:_ENVIRONMENT], arguments[_ENVIRONMENT + 1 :]
        return *before, [*rest, _PATH + path], *after
