"""Run the functions of modules of checks whose names begin with `check_`, print the traceback of each that fails."""

import importlib
import sys
import traceback

failed = 0
for subject in sys.argv[1:]:
    module = importlib.import_module(f"tests.engine.checks.{subject}")
    checks = [(name, function) for name, function in vars(module).items() if name.startswith("check_")]
    passed = 0
    for name, function in checks:
        try:
            function()
            passed += 1
        except BaseException:
            failed += 1
            print(f"--- {name}", traceback.format_exc(), sep="\n", flush=True)
    failed += not checks
    print(f"{passed} of {len(checks)} checks of {subject} passed on {sys.version.split()[0]}", flush=True)
sys.exit(1 if failed else 0)
