"""What tells a process from its siblings: what its launcher has put into its environment, its name, its host.

Also read on our side: `NAMES` are those of the variables whose values are sent, and no others are.
"""

import time
from typing import Any, Dict, Optional

from trio_debugmcp.probe.inside import imported
from trio_debugmcp.probe.inside.values import facts

NAMES = (
    *("RANK", "LOCAL_RANK", "WORLD_SIZE", "GROUP_RANK", "TORCHELASTIC_RUN_ID"),
    *("SLURM_PROCID", "SLURM_LOCALID", "SLURM_NTASKS", "SLURM_NODEID", "SLURM_JOB_ID", "SLURM_ARRAY_TASK_ID"),
    *("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_SIZE"),
    *("PMIX_RANK", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID"),
    *("MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_LOCAL_RANK", "MV2_COMM_WORLD_SIZE"),
    *("RAY_JOB_ID", "DASK_WORKER_NAME", "PYTEST_XDIST_WORKER", "PBS_JOBID", "LSB_JOBID"),
    *("KUBERNETES_SERVICE_HOST", "HOSTNAME", "POD_NAME", "MY_POD_NAME", "JOB_COMPLETION_INDEX", "AIRFLOW_CTX_TASK_ID"),
)
"""Variables of torchrun, Slurm, MPI, Ray, Dask, pytest-xdist, PBS, LSF, Kubernetes and Airflow."""

_MOST_CHARACTERS = 100
"""Of a value: they are numbers and names."""

_MOST_ENVIRONMENT = 200_000
"""Bytes of an environment that are searched."""


def marks_json() -> Dict[str, Any]:
    """Return the variables that there are, those of them that the program has set itself, and its name and host."""
    now = _environment()
    found: Dict[str, Any] = {"variables": now}
    name = _name()
    if name:
        found["name"] = name[:_MOST_CHARACTERS]
    posix = imported.first_seen("posix")
    if posix is not None:
        before = _before(posix) if now else None
        own = [name for name in now if before is not None and now[name] != before.get(name)]
        if own:
            found["own"] = own
        found["host"] = posix.uname().nodename[:_MOST_CHARACTERS]
        machine = _machine(posix)
        if machine:
            found["machine"] = machine
    return found


def used_json() -> Dict[str, float]:
    """Return the seconds of processor time that the process has used, and when that was, by a clock of its own."""
    return {"processor": time.process_time(), "at": time.monotonic()}


def _machine(posix: Any) -> str:
    """What is the same of two processes if an id means the same process to both: the boot, and the namespace of ids."""
    try:
        boot = read_file(posix, "/proc/sys/kernel/random/boot_id", _MOST_CHARACTERS)
        namespace: str = posix.readlink("/proc/self/ns/pid")
    except OSError:
        return ""
    return f"{boot.decode().strip()} {namespace}"


def _before(posix: Any) -> Optional[Dict[str, str]]:
    """The variables as they were when the process began; of a fork, its parent. None where that is not known."""
    try:
        lines = read_file(posix, "/proc/self/environ", _MOST_ENVIRONMENT).split(b"\0")
    except OSError:
        return None
    return _values({line.partition(b"=")[0]: line.partition(b"=")[2] for line in lines})


def read_file(posix: Any, path: str, most: int) -> bytes:
    """Return the first bytes of a file, without any code of the program."""
    file = posix.open(path, posix.O_RDONLY | posix.O_CLOEXEC)
    try:
        data = b""
        while len(data) < most:
            part = posix.read(file, most - len(data))
            if not part:
                break
            data += part
        return data
    finally:
        posix.close(file)


def _environment() -> Dict[str, str]:
    """The variables as the program sees them now."""
    values = facts.attribute(facts.attribute(imported.now("os"), "environ"), "_data")
    return _values(values if type(values) is dict else facts.attribute(imported.now("posix"), "environ"))


def _values(variables: Any) -> Dict[str, str]:
    found = {}
    for name in NAMES if type(variables) is dict else ():
        value = variables.get(name.encode(), variables.get(name))
        if type(value) is bytes:
            value = value.decode("utf-8", "replace")
        if type(value) is str and value:
            found[name] = value[:_MOST_CHARACTERS]
    return found


def _name() -> str:
    """The name that `multiprocessing` has given a child: `ForkPoolWorker-3`."""
    for module in ("billiard.process", "multiprocessing.process"):
        current = facts.attribute(imported.now(module), "_current_process")
        name = facts.attribute(current, "_name")
        if type(name) is str and name != "MainProcess":
            return name
    return ""
