"""`StartedPythons`: interpreters that the program starts find the directory with our `sitecustomize`.

It is added to their environment by what is put in place of the functions of `os` and `_posixsubprocess` that start a
process, or replace this one. The environment of this process does not have it, nor does that of any other child.
"""

import _thread
import posix
import sys
from typing import Any, Callable

from trio_debugmcp.engine.inside import interruptions, python_commands

_NAME = b"PYTHONPATH"

_FILES, _DIRECTORY, _ENVIRONMENT = 1, 4, 5
"""Positions among the arguments of `_posixsubprocess.fork_exec`; the words of the command are the first one."""

_STARTER = "_posixsubprocess"
"""The module by which `subprocess` and `multiprocessing` start processes."""

STARTS = frozenset({"_execute_child", "spawnv_passfds", "fork_exec"})
"""Names of the functions that use it: of `subprocess`, of `multiprocessing`, of loky."""

_SHELL = b"/bin/sh"

_GIVEN = 3
"""Path, words and environment of what is started."""

_environ: dict[bytes, bytes] = posix.environ
_access, _putenv, _unsetenv = posix.access, posix.putenv, posix.unsetenv
_import: Any = sys.modules["_frozen_importlib"]._gcd_import
_modules = sys.modules


class StartedPythons:
    """The functions that start processes, as the program has them."""

    def __init__(
        self,
        home: Callable[[], bytes],
        are_followed: Callable[[], bool],
        at_replacement: Callable[[], None],
        at_child: Callable[[int], None],
    ) -> None:
        self._home = home
        self._are_followed = are_followed
        self._at_replacement = at_replacement
        self._at_child = at_child
        self._carries = _thread.allocate_lock()
        self._starter: Any = None

    def wrap(self) -> None:
        """Have the functions go through us from now on."""
        self._wrap_functions()

    def begin_in_fork(self) -> None:
        """Leave what other threads of the parent may have had."""
        self._carries = _thread.allocate_lock()

    def at_start(self) -> None:
        """A function begins that starts processes by `_posixsubprocess`: have them go through us.

        An audit hook would see that, too; but each `id`, `open` and import of the program would cost it a microsecond.
        """
        try:
            inner = vars(_import(_STARTER))["fork_exec"]  # which that function is about to look up, or has imported
        except (ImportError, KeyError):
            return
        if inner is not self._starter:
            self._wrap_starter(inner)

    def _wrap_starter(self, inner: Any) -> None:

        def start(*arguments: Any) -> Any:
            if not self._are_followed() or len(arguments) <= _ENVIRONMENT or not _is_python(arguments):
                return inner(*arguments)
            environment = arguments[_ENVIRONMENT]
            if environment is None:
                return self._started(self._carrying(inner, *arguments))
            rest = arguments[_ENVIRONMENT + 1 :]
            return self._started(inner(*arguments[:_ENVIRONMENT], self._extended(environment), *rest))

        run = self._starter = StandIn(start, inner)
        for module, name in ((_STARTER, "fork_exec"), ("subprocess", "_fork_exec")):
            names = vars(_modules[module]) if module in _modules else {}
            if names.get(name) is inner:
                names[name] = run

    def _wrap_functions(self) -> None:
        """Have the functions of `os` go through us that start a process, or replace this one."""
        names = vars(_modules["posix"])
        for name, wrap in (
            ("execv", self._inheriting),
            ("execve", self._given),
            ("posix_spawn", self._given),
            ("posix_spawnp", self._given),
            ("system", self._in_shell),
        ):
            inner = names.get(name)
            if inner is None:
                continue
            made = wrap(inner)
            names[name] = StandIn(self._replacing(made) if name.startswith("exec") else made, inner)
            in_os = vars(_modules["os"])
            if in_os.get(name) is inner:
                in_os[name] = names[name]

    def _inheriting(self, inner: Any) -> Any:
        """Of a function whose child has the environment of this process."""

        def run(*arguments: Any, **more: Any) -> Any:
            if self._are_followed() and _names_python(*arguments[:2]):
                return self._carrying(inner, *arguments, **more)
            return inner(*arguments, **more)

        return run

    def _replacing(self, inner: Any) -> Any:
        """Of a function that replaces this process, if there is such an executable."""

        def run(*arguments: Any, **more: Any) -> Any:
            path = _bytes(more.get("path", *arguments[:1]))
            if not path or _access(path, posix.X_OK):
                self._at_replacement()
            return inner(*arguments, **more)

        return run

    def _given(self, inner: Any) -> Any:
        """Of a function that is given the environment of the child."""

        def run(*arguments: Any, **more: Any) -> Any:
            names = ("path", "argv", "env")[len(arguments) :]
            given = [*arguments, *(more[name] for name in names if name in more)]
            if not self._are_followed() or len(given) < _GIVEN or not _names_python(*given[:2]):
                return inner(*arguments, **more)
            more = {name: value for name, value in more.items() if name not in names}
            path, argv, env, *rest = given
            if env is None:
                return self._started(self._carrying(inner, path, argv, env, *rest, **more))
            return self._started(inner(path, argv, self._environment(env), *rest, **more))

        return run

    def _started(self, pid: Any) -> Any:
        """Report a child that was started, and return its process id."""
        if type(pid) is int:
            self._at_child(pid)
        return pid

    def _in_shell(self, inner: Any) -> Any:
        """Of a function that has a shell run a command, and waits for its end."""

        def run(*arguments: Any, **more: Any) -> Any:
            command = more.get("command", *arguments[:1])
            text = _bytes(command)
            if not self._are_followed() or not python_commands.runs_python([_SHELL], [_SHELL, b"-c", text]):
                return inner(*arguments, **more)
            home = self._home().replace(b"'", b"'\\''")
            return inner(b"export PYTHONPATH='" + home + b'\'"${PYTHONPATH:+:$PYTHONPATH}"; ' + text)

        return run

    def _carrying(self, function: Any, *arguments: Any, **more: Any) -> Any:
        """Call what starts a process with the environment of this one, which has the directory meanwhile."""
        with self._carries:
            _putenv(_NAME, self._path(_environ.get(_NAME)))
            try:
                return function(*arguments, **more)
            finally:
                given = _environ.get(_NAME)
                if given is None:
                    _unsetenv(_NAME)
                else:
                    _putenv(_NAME, given)

    def _path(self, given: bytes | None) -> bytes:
        home = self._home()
        return home + b":" + given if given and home else given or home

    def _environment(self, environment: Any) -> Any:
        """Return an environment with the directory in it."""
        try:
            made = dict(environment)
        except (TypeError, ValueError):
            return environment
        given = made.pop(_NAME, None) or made.pop("PYTHONPATH", None) or b""
        made.pop("PYTHONPATH", None)
        made[_NAME] = self._path(given.encode("utf-8", "surrogateescape") if type(given) is str else given)
        return made

    def _extended(self, environment: Any) -> Any:
        """Return an environment in the form that the system takes with the directory in it."""
        if type(environment) is not list:
            return environment
        start = _NAME + b"="
        rest = [each for each in environment if not each.startswith(start)]
        given = [each[len(start) :] for each in environment if each.startswith(start)]
        return [*rest, start + self._path(b":".join(each for each in given if each))]


class StandIn:
    """What the program has in place of a function in C: it looks like that one, and only the program's errors pass.

    A function in Python would not do: as an attribute of a class it would be a method, and it has another signature.
    """

    __slots__ = ("__weakref__", "inner", "run")

    def __init__(self, run: Any, inner: Any) -> None:
        self.run = run
        self.inner = inner

    def __call__(self, *arguments: Any, **more: Any) -> Any:
        try:
            return _run_of(self)(*arguments, **more)
        except BaseException as error:
            raise interruptions.as_the_programs(error) from None

    def __getattribute__(self, name: str) -> Any:
        return getattr(_inner_of(self), name)

    def __repr__(self) -> str:
        return repr(_inner_of(self))


StandIn.__name__ = StandIn.__qualname__ = type(posix.getpid).__name__
StandIn.__module__ = "builtins"

_run_of: Any = vars(StandIn)["run"].__get__
_inner_of: Any = vars(StandIn)["inner"].__get__


def _bytes(word: Any) -> bytes:
    """Return a word of a command as the system has it; empty if it is not a text."""
    if type(word) is str:
        return word.encode("utf-8", "surrogateescape")
    return word if type(word) is bytes else b""


def _words(argv: Any) -> list[bytes]:
    return [_bytes(word) for word in argv] if type(argv) in (list, tuple) else []


def _names_python(path: Any = None, argv: Any = ()) -> bool:
    """Return whether an executable runs Python, which may have to be looked for."""
    words = _words(argv)
    file = _bytes(path) or b"".join(words[:1])  # a path that is an object of the program's says its name there
    return python_commands.runs_python(python_commands.on_path(file, _environ.get(b"PATH")), words)


def _is_python(arguments: tuple[Any, ...]) -> bool:
    """Return whether the process runs Python that `fork_exec` is to start."""
    files, directory = _words(arguments[_FILES]), _bytes(arguments[_DIRECTORY])
    if directory:
        files = [file if file[:1] == b"/" else directory + b"/" + file for file in files]
    return python_commands.runs_python(files, _words(arguments[0]))
