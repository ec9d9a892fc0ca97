"""What a process is called, from the variables that its launcher has set."""

import pytest

from trio_debugmcp.probe.inside.process_marks import NAMES
from trio_debugmcp.state.labels import NUMBERS, WORDS, in_ranges, labels_of, short_label


@pytest.mark.parametrize(
    ("environment", "labels"),
    [
        ({"RANK": "3", "LOCAL_RANK": "1", "WORLD_SIZE": "8"}, {"rank": "3", "local_rank": "1", "world_size": "8"}),
        ({"SLURM_PROCID": "3", "SLURM_JOB_ID": "77", "SLURM_NODEID": "1"}, {"rank": "3", "job": "77", "node": "1"}),
        ({"OMPI_COMM_WORLD_RANK": "2", "OMPI_COMM_WORLD_SIZE": "4"}, {"rank": "2", "world_size": "4"}),
        ({"PMI_RANK": "2"}, {"rank": "2"}),
        ({"DASK_WORKER_NAME": "w-7"}, {"worker": "w-7"}),
        ({"PYTEST_XDIST_WORKER": "gw1"}, {"worker": "gw1"}),
        ({"KUBERNETES_SERVICE_HOST": "10.0.0.1", "HOSTNAME": "shop-5f6"}, {"pod": "shop-5f6"}),
        ({"HOSTNAME": "desk"}, {}),
        ({"AIRFLOW_CTX_TASK_ID": "load"}, {"task": "load"}),
    ],
)
def test_each_launcher_has_variables_of_its_own(environment: dict[str, str], labels: dict[str, str]) -> None:
    assert labels_of(environment) == labels


def test_the_rank_of_torchrun_counts_before_that_of_the_scheduler_which_started_it() -> None:
    assert labels_of({"SLURM_PROCID": "0", "RANK": "5"})["rank"] == "5"


def test_a_rank_is_a_number() -> None:
    assert labels_of({"RANK": "captain", "PMI_RANK": "07"}) == {"rank": "7"}
    assert labels_of({"RANK": "²", "WORLD_SIZE": "-1"}) == {}
    assert labels_of({"RANK": "9" * 5000, "WORLD_SIZE": "1000000000"}) == {}


def test_a_pod_is_not_named_twice() -> None:
    pod = {"KUBERNETES_SERVICE_HOST": "10.0.0.1", "HOSTNAME": "shop-5f6"}
    assert labels_of(pod, host="shop-5f6") == {"pod": "shop-5f6"}
    assert labels_of(pod, host="node-1")["host"] == "node-1"


@pytest.mark.parametrize(
    ("labels", "short"),
    [
        ({"rank": "3", "name": "Process-1"}, "rank 3"),
        ({"worker": "gw1"}, "worker gw1"),
        ({"name": "ForkPoolWorker-2", "host": "a1"}, "ForkPoolWorker-2"),
        ({"host": "a1"}, None),
        ({}, None),
    ],
)
def test_a_process_is_called_by_its_best_label(labels: dict[str, str], short: str | None) -> None:
    assert short_label(labels) == short


def test_numbers_are_written_as_ranges() -> None:
    assert in_ranges([4, 0, 1, 2, 7, 2]) == "0-2, 4, 7"
    assert in_ranges([]) == ""


def test_every_variable_that_is_read_is_one_that_programs_send() -> None:
    read = {name for table in (NUMBERS, WORDS) for names in table.values() for name in names}
    assert read | {"KUBERNETES_SERVICE_HOST", "HOSTNAME"} == set(NAMES)
