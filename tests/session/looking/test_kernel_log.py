"""Whether a process was killed for want of memory, by what the kernel and its control group say."""

from pathlib import Path

from trio_debugmcp.session.looking.from_outside.kernel_log import is_in_log, memory_kills

OURS = "3,812,90001,-;Memory cgroup out of memory: Killed process 4711 (python3) total-vm:812000kB, anon-rss:1kB\n"
OTHERS = "6,339,5140900,-;orders[4711]: segfault at 0 ip 000055562242f71e\n"


def test_the_kernel_names_the_process_that_it_has_killed() -> None:
    assert is_in_log(4711, iter([OTHERS, OURS]), 2.0)
    assert not is_in_log(471, iter([OTHERS, OURS]), 2.0)
    assert not is_in_log(4711, iter([OTHERS]), 2.0)


def test_a_kill_of_another_process_that_had_the_id_before_is_not_of_this_one() -> None:
    assert not is_in_log(4711, iter([OURS]), 3600.0)
    later = OURS.replace("90001", "3598000000")
    assert is_in_log(4711, iter([OURS, later]), 3600.0)
    assert not is_in_log(4711, iter(["Killed process 4711 (python3)"]), 2.0)


def group(tmp_path: Path, line: str, file: str, text: str) -> int:
    (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / file).write_text(text)
    (tmp_path / "membership").write_text(f"5:devices:/\n{line}\n")
    return memory_kills(tmp_path / "membership", tmp_path)


def test_a_control_group_counts_those_killed_in_both_versions(tmp_path: Path) -> None:
    assert group(tmp_path, "0::/job", "job/memory.events", "low 0\noom 4\noom_kill 3\noom_group_kill 0\n") == 3
    assert group(tmp_path, "4:cpu,memory:/job", "memory/job/memory.oom_control", "under_oom 0\noom_kill 2\n") == 2


def test_without_a_count_none_is_known(tmp_path: Path) -> None:
    assert group(tmp_path, "0::/job", "job/memory.events", "low 0\noom_kill 0\n") == 0
    assert group(tmp_path, "0::/other", "job/memory.events", "oom_kill 3\n") == 0
