"""How a Python program that is given as code becomes the main module, as for `python -c`.

debugpy runs it by `eval(code, {})`: without a name and in no module. So `if __name__ == "__main__":` would not hold,
its classes would be of `builtins`, and what looks for names in modules would not find its own.
"""

_SOURCE = """
import builtins, sys, types
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

MAIN_EXPRESSION = f"exec({_SOURCE!r}, {{}})"
"""Evaluated when the program is about to begin: its `eval` is looked up in debugpy's module first."""
