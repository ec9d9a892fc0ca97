"""Run the functions of modules of checks whose names begin with `check_`, each module in a fork of its own.

Prints the traceback of each that fails. One process starts for all modules, and imports what they check, as that takes
longer than most checks. A few forks run at a time, as most checks that take long wait.
"""

import importlib
import os
import sys
import traceback

import trio_debugmcp.probe.inside.questions  # noqa: F401
from trio_debugmcp.probe.inside import bounds

AT_A_TIME = 3

PATIENCE = 200.0
"""How much longer than usual answers may take, so that a loaded machine fails no check but those about a bound."""

usual = [PATIENCE]
be_patient = bounds.be_patient
bounds.be_patient = lambda factor: be_patient(usual[0] * factor)  # what a question says without `patience` is 1

codes = []
running = 0
for subject in sys.argv[1:]:
    if running == AT_A_TIME:
        codes.append(os.wait()[1])
        running -= 1
    if os.fork():
        running += 1
        continue
    failed = 0
    checks = []
    try:
        module = importlib.import_module(f"tests.probe.checks.{subject}")
        checks = [(name, function) for name, function in vars(module).items() if name.startswith("check_")]
        for name, function in checks:
            try:
                usual[0] = 1.0 if getattr(function, "is_about_a_bound", False) else PATIENCE
                bounds.be_patient(1.0)
                function()
            except BaseException:
                failed += 1
                print(f"--- {name}", traceback.format_exc(), sep="\n", flush=True)
        passed = len(checks) - failed
        print(f"{passed} of {len(checks)} checks of {subject} passed on {sys.version.split()[0]}", flush=True)
    except Exception:
        traceback.print_exc()
        failed += 1
    finally:
        os._exit(1 if failed or not checks else 0)  # threads of some checks wait for ever
codes += [os.wait()[1] for _ in range(running)]
sys.exit(1 if any(codes) or not codes else 0)
