"""Run every function of a module of checks whose name begins with `check_`; print the traceback of each that fails."""

import importlib
import os
import sys
import traceback

module = importlib.import_module(f"tests.probe.checks.{sys.argv[1]}")
checks = [(name, function) for name, function in vars(module).items() if name.startswith("check_")]
failed = 0
for name, function in checks:
    try:
        function()
    except BaseException:
        failed += 1
        print(f"--- {name}", traceback.format_exc(), sep="\n", flush=True)
print(f"{len(checks) - failed} of {len(checks)} on {sys.version.split()[0]}", flush=True)
os._exit(1 if failed or not checks else 0)  # threads of some checks wait for ever
