"""What debugpy evaluates when a Python program is about to begin.

No program waits until debugpy has described the environment for its log. That reads the metadata of every installed
package, under the tracing that is on by then: two tenths of a second for a hundred packages, before the first line.

Code of `exec(text)` is the program's, though called `<string>`: pydevd takes all of that name for a library's, but for
`python -c`, so that `breakpoint()` in it is passed over. It stays out of the methods of dataclasses and named tuples.

A program that is a module has the names of its own only. runpy gives it the main module that there is, debugpy's, and
so what that has imported: `sys` without an import of it in the program.

A program that is given as code becomes the main module, as for `python -c`. debugpy runs it by `eval(code, {})`:
without a name and in no module. So `if __name__ == "__main__":` would not hold, its classes would be of `builtins`, and
what looks for names in modules would not find its own.
"""

from trio_debugmcp.dap.kept_tracing import untraced
from trio_debugmcp.dap.profiles.python.generator_steps import GENERATOR_STEPS
from trio_debugmcp.dap.profiles.python.many_threads import MANY_THREADS

_STARTUP = """
import sys
log = sys.modules.get("debugpy.common.log")
if log is not None:
    log.describe_environment = len  # no code of Python: a stop at the entry would be there
names = vars(sys.modules["__main__"])
cli = sys.modules.get("debugpy.server.cli")
if cli is not None and names.get("cli") is cli:
    for name in ("sys", "debugpy", "cli"):
        names.pop(name, None)
def of_program(pydevd):
    judge = pydevd.PyDB.get_file_type
    def get_file_type(self, frame, *names):
        found, code = judge(self, frame, *names), frame.f_code
        if found != self.LIB_FILE or code.co_filename != "<string>" or code.co_name[:2] == "__":
            return found
        module = frame.f_globals.get("__name__")
        return found if type(module) is str and module.startswith("namedtuple_") else None
    pydevd.PyDB.get_file_type = get_file_type
pydevd = sys.modules.get("pydevd")
if hasattr(getattr(pydevd, "PyDB", None), "get_file_type"):
    of_program(pydevd)
"""

_MAIN = """
import builtins, types
cli = sys.modules.get("debugpy.server.cli")
if cli is not None and "eval" not in vars(cli):
    main = types.ModuleType("__main__")
    main.__builtins__ = builtins
    cli.main_before = sys.modules.get("__main__")
    sys.modules["__main__"] = main
    # Compiled as a line of debugpy's own file: so neither stacks nor printed tracebacks show it as the program's.
    run = compile("lambda code, names: eval(code, main)", cli.__file__, "eval")
    cli.eval = eval(run, {"main": vars(main), "eval": eval})
"""

_ALWAYS = _STARTUP + MANY_THREADS + GENERATOR_STEPS

STARTUP_EXPRESSION = untraced(_ALWAYS)
"""Evaluated for every program."""

MAIN_EXPRESSION = untraced(_ALWAYS + _MAIN)
"""Evaluated for one that is given as code: its `eval` is looked up in debugpy's module first."""
