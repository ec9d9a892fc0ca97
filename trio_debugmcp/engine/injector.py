"""Executes a file in a Python process that runs already: `python injector.py PID FILE`. The server runs it by itself.

debugpy's part that does that, by gdb or lldb, is used for it: pydevd's `add_code_to_python_process`.
"""

import sys
from pathlib import Path


def main(pid: str, file: str) -> None:
    """Have the process execute the file; its main module keeps no name of it."""
    import debugpy

    folder = Path(debugpy.__file__).parent / "_vendored/pydevd/pydevd_attach_to_process"
    sys.path.append(str(folder))
    from add_code_to_python_process import run_python_code  # type: ignore[import-not-found]

    path = f"bytes({list(file.encode())})"  # quotes would end the command line of gdb
    code = f"[(exec(file.read(), dict()), file.close()) for file in (open({path}),)]"
    run_python_code(int(pid), code, connect_debugger_tracing=False)


if __name__ == "__main__":
    main(*sys.argv[1:])
