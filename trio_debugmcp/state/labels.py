"""What tells a process from its siblings, for people: rank, host, pod, task; from variables of its environment. Pure.

    labels = labels_of({"SLURM_PROCID": "3", "SLURM_NTASKS": "32"})     # {"rank": "3", "world_size": "32"}
    short_label(labels)                                                 # "rank 3"
    in_ranges([0, 1, 2, 7])                                             # "0-2, 7"

A variable whose value is not what it should be is left out: `RANK=captain`.
"""

from collections.abc import Iterable, Mapping

NUMBERS: Mapping[str, tuple[str, ...]] = {
    "rank": (
        *("RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "MV2_COMM_WORLD_RANK", "SLURM_PROCID"),
        "JOB_COMPLETION_INDEX",
    ),
    "local_rank": (
        *("LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "MV2_COMM_WORLD_LOCAL_RANK"),
        "SLURM_LOCALID",
    ),
    "world_size": ("WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE", "SLURM_NTASKS"),
    "node": ("GROUP_RANK", "SLURM_NODEID"),
}
"""Labels that are numbers, by the variables that have them, the most exact first: torchrun may run below Slurm."""

WORDS: Mapping[str, tuple[str, ...]] = {
    "worker": ("DASK_WORKER_NAME", "PYTEST_XDIST_WORKER"),
    "task": ("SLURM_ARRAY_TASK_ID", "AIRFLOW_CTX_TASK_ID"),
    "pod": ("POD_NAME", "MY_POD_NAME"),
    "job": ("TORCHELASTIC_RUN_ID", "SLURM_JOB_ID", "RAY_JOB_ID", "PBS_JOBID", "LSB_JOBID"),
}
"""Labels that are words, as above."""

MOST_NUMBER = 999_999_999
"""A variable with more than that is not the number of a process, whatever it is."""

NAMES = (*NUMBERS, *WORDS, "name", "host")
"""All labels that there are."""

SHORT = ("rank", "worker", "pod", "name", "task")
"""Labels that may stand for a process alone, the best first."""

Labels = Mapping[str, str]


def labels_of(environment: Mapping[str, str], name: str | None = None, host: str | None = None) -> Labels:
    """Return the labels of a process. `name`: of a child of `multiprocessing`."""
    found = dict[str, str]()
    for label, variables in NUMBERS.items():
        values = (environment.get(variable, "").strip() for variable in variables)
        number = next((value for value in values if _is_number(value)), None)
        if number is not None:
            found[label] = str(int(number))
    for label, variables in WORDS.items():
        word = next((environment[variable] for variable in variables if environment.get(variable)), None)
        if word is not None:
            found[label] = word
    if "KUBERNETES_SERVICE_HOST" in environment and "pod" not in found and environment.get("HOSTNAME"):
        found["pod"] = environment["HOSTNAME"]
    if name:
        found["name"] = name
    if host and host != found.get("pod"):
        found["host"] = host
    return found


def _is_number(value: str) -> bool:
    return value.isascii() and value.isdigit() and len(value) <= len(str(MOST_NUMBER))


def short_label(labels: Labels) -> str | None:
    """Return the label by which a process is called: `rank 3`, `worker gw1`, `ForkPoolWorker-3`."""
    for label in SHORT:
        if label in labels:
            return labels[label] if label in ("name", "pod") else f"{label} {labels[label]}"
    return None


def in_ranges(numbers: Iterable[int]) -> str:
    """Return numbers as people write them: `0-2, 7`."""
    runs: list[list[int]] = []
    for number in sorted(set(numbers)):
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)
