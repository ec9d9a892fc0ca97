"""Runs one try of a hunt on a worker of a cluster: sent there as text, as the worker need not have this package.

    came = run_try(wanted, is_cancelled)
    came["answer"], came["record"]                  # what the keeper said; the record's files, zipped

On Python 3.8 and newer, by the standard library alone. The try is over when this process is, whatever ends it.
"""

import io
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import zipfile
from typing import Any

LOOK_SECONDS = 0.2
"""Between two looks whether the try is still wanted."""

KEEPER_SECONDS = 15.0


def run_try(wanted: Any, is_cancelled: Any, scratch: Any = None) -> Any:
    """Run a try; `is_cancelled` returns whether the hunt waits for it no more, `scratch`: a directory of the worker."""
    directory = tempfile.mkdtemp(prefix="trio_debugmcp-try-", dir=scratch)
    try:
        if not os.path.isdir(wanted["cwd"]):
            reason = "the directory is not on this worker, and the project has to be at the same path there"
            return {"answer": {"refused": f"{reason}: {wanted['cwd']}"}, "record": None}
        wanted = {**wanted, "directory": directory, "cache": scratch}
        note = ""
        interpreter = wanted["command"][0]
        if not os.access(interpreter, os.X_OK):
            note = f"{interpreter} is not on a worker: tries ran on its own Python, {sys.executable}"
            wanted["command"] = [sys.executable, *wanted["command"][1:]]
        answer = kept(wanted, directory, is_cancelled)
        record, problem = zipped(f"{directory}/run", wanted["mostBytes"])
        answer["problem"] = problem or note
        return {"answer": answer, "record": record}
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def kept(wanted: Any, directory: Any, is_cancelled: Any) -> Any:
    """Run the keeper of a try, and return what it answers."""
    path = f"{directory}/keeper.py"
    with open(path, "w", encoding="utf-8") as file:
        file.write(wanted.pop("keeper"))
    command = [sys.executable, "-I", "-S", path]
    process: Any = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True, cwd="/", close_fds=True
    )
    written: Any = []
    reader = threading.Thread(target=lambda: written.append(process.stdout.read()), daemon=True)
    reader.start()
    try:
        process.stdin.write(json.dumps(wanted).encode() + b"\n")
        process.stdin.flush()
        left = wanted["seconds"] + KEEPER_SECONDS
        while reader.is_alive() and left > 0 and not is_cancelled():
            reader.join(LOOK_SECONDS)
            left -= LOOK_SECONDS
    except OSError:  # it has ended before it read anything
        pass
    finally:
        process.stdin.close()  # which ends the try, if it is not over
        try:
            process.wait(KEEPER_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    reader.join(LOOK_SECONDS)
    try:
        return json.loads(b"".join(written))
    except ValueError:
        return {"refused": "the try was lost on its worker"}


def zipped(run: Any, most_bytes: Any) -> Any:
    """Return the files of a record as one, or None; and what is wrong with them."""
    if not os.path.isdir(run):
        return None, ""
    into = io.BytesIO()
    with zipfile.ZipFile(into, "w", zipfile.ZIP_DEFLATED) as archive:
        for place, _, names in os.walk(run):
            for name in names:
                archive.write(f"{place}/{name}", os.path.relpath(f"{place}/{name}", run))
                if into.tell() > most_bytes:
                    return None, f"a record of more than {most_bytes // 1000000} MB stays on its worker"
    return into.getvalue(), ""
