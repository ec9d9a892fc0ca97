"""What becomes of a record where its process does not just run and end."""

import re
import subprocess
from pathlib import Path

import pytest

from tests.runs.recorded_programs import described, given_of, python, record, run_recorded
from trio_debugmcp.engine import carrier
from trio_debugmcp.runs.files.process_record import FIELD, LINE, SEEN, SEEN_NAME, START, WRITE, ProcessRecord, open_run
from trio_debugmcp.runs.files.run_facts import facts_of_run
from trio_debugmcp.runs.past.run_moves import cut_off
from trio_debugmcp.runs.why import NoAnswerError
from trio_debugmcp.server.tools.runs.failing_processes import FailureSearch

pytestmark = pytest.mark.real

VERSIONS = pytest.mark.parametrize("version", [(3, 12), (3, 13)], ids=["3.12", "3.13"])


def globals_of(process: ProcessRecord, name: str) -> list[str]:
    """The values of a name of the main module, in order."""
    module = next(code for code in process.codes if code.kind == "module")
    key, found, number = process.key_of(f".{name}"), [], 0
    while number := min(
        (n for n in (process.forth(kind, key, module.globals, number) for kind in (FIELD, SEEN)) if n), default=0
    ):
        found.append(process.text(process.row(number)))
    return found


FORKS = """\
import os
x = 1
child = os.fork()
x = 2 if child else 3
if not child:
    os._exit(0)
os.waitpid(child, 0)
x = 4
"""


@VERSIONS
def test_a_fork_has_a_record_of_its_own_that_says_where_it_came_from(version: tuple[int, int]) -> None:
    ran = run_recorded(FORKS, python(*version))
    parent, child = ran.run.processes
    assert globals_of(parent, "x") == ["1", "2", "4"]
    assert globals_of(child, "x")[-1] == "3"
    assert cut_off(child) == 0, "it left by os._exit"
    assert child.facts.parent is not None
    assert child.facts.parent[0] == parent.facts.pid
    assert parent.row(child.facts.parent[1])
    assert (parent.facts.ended, child.facts.ended) == ("exit", None)
    assert facts_of_run(str(ran.folder / "run")).programs == ["program.py", f"fork of {parent.facts.pid}"]


KILLED = """\
import os, signal
for x in range(100_000):
    y = x
    if x == {last}: os.kill(os.getpid(), signal.SIGKILL)
"""


@VERSIONS
@pytest.mark.parametrize("last", [10, 90_000], ids=["in the first block", "in a later one"])
def test_what_was_recorded_outlives_a_killed_process(version: tuple[int, int], last: int) -> None:
    ran = run_recorded(KILLED.format(last=last), python(*version))
    assert ran.code == -9
    (process,) = ran.run.processes
    assert process.facts.ended is None
    assert process.row(process.last).kind == LINE
    assert cut_off(process) == process.last
    module = process.codes[0].globals
    assert process.text(process.row(process.back(FIELD, process.key_of(".y"), module, process.last))) == str(last)
    assert process.text(process.row(process.forth(FIELD, process.key_of(".y"), module, 0))) == "0"


WORKERS = """\
import multiprocessing, os, signal
def work(n):
    if n == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return n
if __name__ == "__main__":
    context = multiprocessing.get_context("fork")
    workers = [context.Process(target=work, args=(n,)) for n in range(2)]
    for worker in workers: worker.start()
    for worker in workers: worker.join()
"""


def test_of_a_run_in_which_nothing_failed_the_worker_that_was_killed_is_named_before_the_run_is_over() -> None:
    parent, *workers = record(WORKERS, python(3, 13)).processes
    (killed,) = [worker.facts.pid for worker in workers if cut_off(worker)]

    def said(departed: set[int | None], *, is_over: bool, is_ended: bool = False) -> str:
        search = FailureSearch(None, departed, is_ended=is_ended)
        for process in (parent, *workers):
            search.look_at(process, is_over=is_over)
        return str(search.refused(NoAnswerError("nothing failed.")))

    named = (
        "nothing failed. Killed, or left by os._exit, as its record has no end: process "
        f"{killed} in program.py:4 (why(process={killed}))"
    )
    assert said(set(), is_over=True) == named
    assert said({killed}, is_over=False) == named, "of a run that is not over"
    assert said(set(), is_over=False) == "nothing failed."
    ended = named.replace("Killed, or left by os._exit, as its record has no end", "Ended by the debugger")
    assert said(set(), is_over=True, is_ended=True) == ended
    assert said({killed}, is_over=True, is_ended=True) == named, "it ended before the debugger ended the others"


THREADS = """\
import threading
def work(own):
    for place in range(300):
        total = own * 1000 + place
threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
"""


@VERSIONS
def test_threads_share_one_order_and_keep_their_frames_apart(version: tuple[int, int]) -> None:
    (process,) = run_recorded(THREADS, python(*version)).run.processes
    code = next(code for code in process.codes if code.name == "work")
    frames = process.frames_of(code.number)
    assert len(frames) == 8
    assert len({process.frame(frame).thread for frame in frames} | {1}) >= 2
    begun = set()
    for frame in frames:
        key, number, written = process.key_of("total"), 0, []
        while number := process.forth(WRITE, key, frame, number):
            written.append(int(process.text(process.row(number))))
        assert written == [written[0] + place for place in range(300)]
        begun.add(written[0])
    assert begun == {number * 1000 for number in range(8)}


LONG = """\
def work():
    for x in range(400_000):
        y = x
work()
z = 1
"""


def test_where_the_files_are_full_the_oldest_rows_go_and_that_is_said() -> None:
    (process,) = run_recorded(LONG, python(3, 13), maxMb=5).run.processes
    assert process.first > 1
    assert process.facts.dropped == process.first - 1
    row = process.row(process.back(WRITE, process.key_of("y"), 2, process.last))
    assert process.text(row) == "399999"
    assert process.code(process.frame(row.subject).code).name == "work"
    size = sum(file.stat().st_size for file in process.directory.iterdir())
    assert size < 6 << 20


FULL = """\
import resource, signal
def work(n):
    for x in range(n):
        y = x
work(10)
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
work(100_000)
print("done")
"""


@VERSIONS
def test_a_full_disk_ends_the_recording_and_not_the_program(version: tuple[int, int]) -> None:
    ran = run_recorded(FULL, python(*version))
    assert (ran.code, ran.output, ran.errors) == (0, "done\n", "")
    (process,) = ran.run.processes
    assert process.facts.ended not in (None, "exit")
    assert process.facts.ended is not None
    assert re.search("an error of the recorder|no room|File too large", process.facts.ended)
    assert process.last > 60_000


TASKS = """\
import asyncio
async def child(n):
    for turn in range(3):
        await asyncio.sleep(0)
        seen.append((n, turn))
    return n
async def main():
    return await asyncio.gather(child(1), child(2))
seen = []
result = asyncio.run(main())
"""


@VERSIONS
def test_a_frame_of_a_task_is_one_frame_however_often_it_waits(version: tuple[int, int]) -> None:
    (process,) = run_recorded(TASKS, python(*version)).run.processes
    code = next(code for code in process.codes if code.name == "child")
    assert code.kind == "coroutine"
    assert len(process.frames_of(code.number)) == 2
    assert globals_of(process, "result") == ["[1, 2]"]
    starts = [
        n for n in range(1, process.last + 1) if process.row(n).kind == START and process.row(n).key == code.number
    ]
    assert len(starts) == 2


SECRETS = """\
class Login:
    def __init__(self, password):
        self.password = password
api_key = "hunter22hunter22"
login = Login(api_key)
settings = {"auth_token": "hunter22hunter22"}
"""


def test_values_under_the_names_of_secrets_are_not_written(tmp_path: Path) -> None:
    ran = run_recorded(SECRETS, python(3, 13), tmp_path)
    (process,) = ran.run.processes
    shown = "\n".join(described(process, number) for number in range(1, process.last + 1))
    assert "<secret>" in shown
    assert "hunter22" not in shown


LATE = """\
def inner(k):
    items = [1, 2]
    if k == 1:
        exec(open(BEGIN).read(), {})
    items.append(k)
    return items
def outer():
    n = 0
    for k in range(3):
        n += len(inner(k))
    return n
outer()
"""


@VERSIONS
def test_a_recording_that_begins_in_the_middle_has_what_its_frames_knew_by_then(
    version: tuple[int, int], tmp_path: Path
) -> None:
    given, begin = given_of(tmp_path), tmp_path / "begin.py"
    begin.write_text(f'{carrier.BRING_IN}\nbring_in({given!r}, "arrive_to_record")\n', encoding="utf-8")
    program = tmp_path / "project" / "program.py"
    program.write_text(LATE.replace("BEGIN", repr(str(begin))), encoding="utf-8")
    subprocess.run([python(*version), str(program)], check=True)
    (process,) = open_run(tmp_path / "run").processes
    code = next(code for code in process.codes if code.name == "inner")
    first = process.frame(process.frames_of(code.number)[0])
    assert process.row(first.start).owner == 0
    seen = process.row(process.forth(SEEN_NAME, process.key_of("items"), first.number, first.start))
    assert process.text(seen) == "[1, 2]"
    added = process.row(process.forth(FIELD, process.key_of("[2]"), seen.object, seen.number))
    assert process.site(process.row(added.owner).key).line == 5


DATACLASS = """\
from dataclasses import dataclass
@dataclass
class Point:
    x: int
    y: int = 2
point = Point(1)
"""


@VERSIONS
def test_generated_methods_are_recorded_with_what_they_store(version: tuple[int, int]) -> None:
    (process,) = run_recorded(DATACLASS, python(*version)).run.processes
    made = next(code for code in process.codes if code.name.endswith("__init__"))
    assert made.file == "<string>"
    assert "self.x" in (process.source(made.number) or "")
    module = next(code for code in process.codes if code.kind == "module")
    point = process.row(process.back(FIELD, process.key_of(".point"), module.globals, process.last + 1)).object
    x = process.row(process.back(FIELD, process.key_of(".x"), point, process.last + 1))
    assert process.text(x) == "1"
    assert process.site(process.row(x.owner).key).code == made.number
