"""Programs that are built before they are launched: with a compiler that is a script, and what it leaves behind."""

import stat
import sysconfig
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
import trio
from msgspec.structs import replace

from tests.dap.test_process import lives, until
from trio_debugmcp.dap.process import Watchdog
from trio_debugmcp.dap.profiles import Launch
from trio_debugmcp.dap.profiles.compilers import BuildPlan
from trio_debugmcp.errors import CannotRun, UsageError
from trio_debugmcp.session.before import builds
from trio_debugmcp.session.before.builds import Builds, Ran, run_command
from trio_debugmcp.session.host import Host

pytestmark = pytest.mark.real

STUCK = "echo $$; sleep 60 & echo $! > pid; wait"


class Scene:
    """A source file, a compiler that is a script of the shell, and a directory for all that is built."""

    def __init__(self, directory: Path, watchdog: Watchdog) -> None:
        self.directory, self.built = directory, directory / "tmp"
        self.built.mkdir()
        self.source = directory / "shop.m"
        self.source.write_text("source")
        self.builds = Builds(Host(), watchdog)

    def plan(self, script: str, *arguments: str, source: str | None = None) -> BuildPlan:
        compiler = self.directory / "compile"
        compiler.write_text(f"#!/bin/sh\n{script}\n")
        compiler.chmod(stat.S_IRWXU)
        given = arguments or ("{program}", "{output}")
        return BuildPlan((str(compiler), *given), str(self.directory), source or str(self.source))

    def left(self) -> list[str]:
        """What there is in the directory of what is built."""
        return [each.name for each in self.built.iterdir()]


@pytest.fixture
def scene(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Scene]:
    watchdog = Watchdog()
    scene = Scene(tmp_path, watchdog)
    monkeypatch.setattr(tempfile, "tempdir", str(scene.built))
    yield scene
    watchdog.close()


async def refused(scene: Scene, plan: BuildPlan, seconds: float = 20) -> UsageError:
    with pytest.raises(UsageError) as caught:
        await scene.builds.build(plan, seconds)
    assert scene.left() == [], "nothing is left behind"
    return caught.value


async def test_a_program_is_made_in_a_directory_that_is_deleted_with_it(scene: Scene) -> None:
    built = await scene.builds.build(scene.plan('cp "$1" "$2"; pwd; cat; echo "$LC_ALL $NO_COLOR" >&2'), 20)
    assert Path(built.program).read_text() == "source"
    assert Path(built.program).name == "shop"
    assert built.output == f"{scene.directory}\nC.UTF-8 1\n"
    again = await scene.builds.build(scene.plan('cp "$1" "$2"'), 20)
    assert again.program != built.program
    assert len(scene.left()) == 2
    scene.builds.discard(Launch(program=built.program))
    assert not Path(built.program).exists()
    assert Path(again.program).exists()
    scene.builds.discard(Launch(program=str(scene.source)))
    assert scene.source.exists()


async def test_a_failed_build_says_the_first_error_with_its_place_and_the_rest_in_details(scene: Scene) -> None:
    error = await refused(scene, scene.plan('echo "$1:3: error: bad plum." >&2; echo "sub/b.m:4: error: x"; exit 2'))
    assert error.code == "LAUNCH_FAILED"
    assert (
        error.message == f"'{scene.source}' cannot be built: line 3: bad plum. Correct it, and call debug_launch again."
    )
    assert error.details == {
        "path": str(scene.source),
        "line": 3,
        "output": f"sub/b.m:4: error: x\n{scene.source}:3: error: bad plum.\n",
    }
    error = await refused(scene, scene.plan('echo "sub/b.m:4: error: x"; exit 2'))
    assert ": sub/b.m:4: x. Correct" in error.message
    assert error.details["path"] == str(scene.directory / "sub/b.m")
    error = await refused(scene, scene.plan("exit 3"))
    assert "compile ended with exit code 3. Correct" in error.message
    assert "made no program" in (await refused(scene, scene.plan("exit 0"))).message


async def test_what_one_file_alone_lacks_may_be_in_those_beside_it_which_are_named(scene: Scene) -> None:
    lacking = """echo "/usr/bin/ld: shop.o: undefined reference to \\`add(int)'" >&2; exit 1"""
    alone = "undefined reference to `add(int)'. Correct it, and call debug_launch again."
    assert alone in (await refused(scene, scene.plan(lacking))).message
    for name in "abcdefghij":
        (scene.directory / f"{name}.m").touch()
    error = await refused(scene, scene.plan(lacking))
    assert error.message.endswith(
        "undefined reference to `add(int)'. Only this file was built, and not a.m, b.m, c.m, d.m, e.m, f.m, g.m, h.m "
        "and 2 more beside it. If that is defined there, build them together, and pass what is made, a program with "
        "debug information, as `program`."
    )
    classes = replace(scene.plan('echo "$1:3: error: unresolved reference: Shelf"; exit 1'), makes="classes")
    assert "pass what is made, a jar, as `program`" in (await refused(scene, classes)).message
    whole = replace(scene.plan(lacking), program=str(scene.directory / "shop"))  # of a project, which knows its files
    assert alone in (await refused(scene, whole)).message
    (scene.directory / "other.rs").touch()
    (scene.directory / "shop.rs").touch()
    assert alone in (await refused(scene, scene.plan(lacking, source=str(scene.directory / "shop.rs")))).message
    assert "bad plum. Correct it" in (await refused(scene, scene.plan('echo "$1:3: error: bad plum."; exit 2'))).message


async def test_a_compiler_that_is_not_installed_is_named(scene: Scene) -> None:
    plan = BuildPlan(("no-such-compiler", "{program}", "{output}"), str(scene.directory), str(scene.source))
    error = await refused(scene, plan)
    assert (error.code, "no-such-compiler does not run" in error.message) == ("LAUNCH_FAILED", True)


async def test_a_build_that_takes_too_long_is_ended_with_all_that_it_has_started(scene: Scene) -> None:
    error = await refused(scene, scene.plan(STUCK), seconds=0.5)
    assert (error.code, "within 0.5 s by " in error.message) == ("TIMEOUT", True)
    begun = scene.directory / "pid"  # on a busy machine it has not even begun
    assert not (begun.exists() and begun.read_text() and lives(int(begun.read_text())))


async def test_a_build_that_is_cancelled_leaves_no_process_and_no_directory(scene: Scene) -> None:
    with trio.fail_after(120):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(scene.builds.build, scene.plan(STUCK), 60)
            await until(lambda: (scene.directory / "pid").exists() and bool((scene.directory / "pid").read_text()))
            nursery.cancel_scope.cancel()
    assert not lives(int((scene.directory / "pid").read_text()))
    assert scene.left() == []


def report(*programs: str) -> str:
    """A script that reports these programs, each made of `NAME.m`, as cargo does."""
    lines = [f'{{"executable":"/t/{each}","target":{{"src_path":"$PWD/{each}.m"}}}}' for each in programs]
    return "cat <<END\n" + "\n".join(lines) + "\nhello\nEND"


async def test_a_command_that_reports_what_it_makes_is_believed_and_of_several_programs_the_sources_is_taken(
    scene: Scene,
) -> None:
    built = await scene.builds.build(scene.plan(report("till", "shop"), "-v"), 20)
    assert (built.program, built.output) == ("/t/shop", "hello\n")
    assert scene.left() == []
    project = str(scene.directory)
    built = await scene.builds.build(scene.plan(report("till"), "-v", source=project), 20)
    assert built.program == "/t/till"
    several = await refused(scene, scene.plan(report("till", "shop"), "-v", source=project))
    assert f"builds programs from: {project}/till.m, {project}/shop.m. Pass one" in several.message
    other = await refused(scene, scene.plan(report("till"), "-v"))
    assert f"builds programs from: {project}/till.m. Pass one" in other.message
    many = await refused(scene, scene.plan(report(*map(str, range(11))), "-v", source=project))
    assert "/7.m and 3 more. Pass" in many.message
    (scene.directory / "Cargo.toml").touch()
    none = await refused(scene, scene.plan("true", "-v", source=project))
    assert none.message.endswith('builds no program. A test of it can be, named like `test="src/lib.rs::tests::adds"`.')


# --- Commands ---------------------------------------------------------------------------------------------------------


async def test_a_command_has_no_input_and_of_what_it_writes_beginning_and_end_are_kept(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    watchdog = Watchdog()
    monkeypatch.setattr(builds, "_HEAD_BYTES", 6)
    monkeypatch.setattr(builds, "_TAIL_BYTES", 5)
    ran = await run_command(["sh", "-c", "cat; echo 0123456789abcdefgh; echo short >&2; exit 4"], watchdog)
    assert ran == Ran(4, "012345\n… 8 bytes left out …\nefgh\n", "short\n")
    with pytest.raises(CannotRun):
        await run_command(["/nowhere/cc"], watchdog)
    watchdog.close()


async def test_a_command_is_over_although_what_it_has_left_running_keeps_its_pipes(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    watchdog = Watchdog()
    monkeypatch.setattr(builds, "_DRAIN_SECONDS", 0.1)
    with trio.fail_after(120):
        ran = await run_command(["sh", "-c", "sleep 60 & echo $!"], watchdog)
    assert not lives(int(ran.stdout))
    watchdog.close()


async def test_a_compiler_is_found_by_another_of_its_names_on_path_or_beside_this_python(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = scene.plan('cp "$1" "$2"')
    named = replace(plan, command=("no-such-compiler", *plan.command[1:]), otherwise=("nor-this", "compile"))
    assert "no-such-compiler does not run" in (await refused(scene, named)).message
    monkeypatch.setattr(sysconfig, "get_path", lambda _: str(scene.directory))
    assert Path((await scene.builds.build(named, 20)).program).read_text() == "source"
