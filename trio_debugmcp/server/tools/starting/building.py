"""A program that is built before it is launched, and what is said of one that has no debug information."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import PurePath
from typing import Any

import msgspec
import trio
from msgspec.structs import replace

from trio_debugmcp.dap.profiles import Launch, MainClass, Profile
from trio_debugmcp.dap.profiles.compilers import BuildPlan, plan_of
from trio_debugmcp.errors import UsageError
from trio_debugmcp.server.tools.starting.checks import program_facts
from trio_debugmcp.session.debugger import Debugger

_FLAGS = {
    "go": "without `-ldflags=-w` or `-s`",
    "rust": "with `rustc -g`, or `cargo build` without --release",
}
"""Language of an executable → how it is built with debug information."""


@asynccontextmanager
async def built(debugger: Debugger, profile: Profile, launch: Launch, deadline: float) -> AsyncIterator[Launch]:
    """Build the program of a launch, if it is built at all, and yield the launch of what was made.

    A session that runs it deletes it at its end; if the block raises and no session does, it is deleted here.

    Raises:
        UsageError: `LAUNCH_FAILED` with the compiler's first error, `PERMISSION_DENIED` or `TIMEOUT`.
    """
    program = launch.source or launch.program
    plan = build_plan(debugger, profile, program, launch.options, launch.build)
    main = _main_class(debugger, profile, program) if not profile.target_options & launch.options.keys() else None
    if plan is None or not plan.command:
        yield replace(launch, main=main)
        return
    plan = plan if main is None else replace(plan, sources=main.path)
    made = await debugger.builds.build(plan, max(0.0, deadline - trio.current_time()))
    main = main and replace(main, path=made.program)
    start = replace(launch, program=made.program, source=plan.source, preface=made.output, main=main)
    try:
        yield start
    except BaseException:
        started = [session.start for session in debugger.living_sessions()]
        if not any(isinstance(each, Launch) and each.program == made.program for each in started):
            debugger.builds.discard(start)
        raise


def _main_class(debugger: Debugger, profile: Profile, program: str) -> MainClass | None:
    """Return the class that a program begins in, in a language where that is its name."""

    def ask() -> list[Any] | None:
        found = profile.programs.main_class(program)
        return None if found is None else [found.name, found.path, found.entry, list(found.libraries)]

    if not profile.programs.has_main_classes:
        return None
    answer = debugger.host.query(f"main class of {program}", ask)
    return (
        None
        if answer is None
        else msgspec.convert(dict(zip(MainClass.__struct_fields__, answer, strict=False)), MainClass)
    )


def build_plan(
    debugger: Debugger, profile: Profile, program: str, options: Mapping[str, Any], plan: BuildPlan | None
) -> BuildPlan | None:
    """Return how a program is built; None for one that runs as it is.

    `plan`: how, if not as other programs of its language.

    Raises:
        UsageError: `PERMISSION_DENIED` on a server that is confined and builds nothing.
    """
    if plan is not None:
        debugger.host.query(f"building of {program}", lambda: _check_allowed(debugger, program))
        return plan
    if not profile.builds or profile.target_options & options.keys():
        return None
    facts = program_facts(debugger, program)
    roots = debugger.settings.roots
    within = tuple(
        each for each in facts.above if not roots or any(PurePath(each).is_relative_to(one) for one in roots)
    )
    plan = plan_of(profile.builds, program, replace(facts, above=within))
    if plan is not None:
        debugger.host.query(f"building of {program}", lambda: _check_allowed(debugger, program))
    return plan


def _check_allowed(debugger: Debugger, program: str) -> None:
    if debugger.settings.roots and not debugger.settings.allow_build:
        raise UsageError(
            "PERMISSION_DENIED",
            f"'{program}' would have to be built, which a server that is confined to {debugger.settings.roots[0]} does "
            "only with --allow-build. Build it with debug information, and launch what was built.",
        )


def debug_notes(debugger: Debugger, profile: Profile, launch: Launch) -> list[str]:
    """Return a note on a program without debug information, and how it is built with it."""
    if profile.detect.elf is None or profile.target_options & launch.options.keys():
        return []
    facts = program_facts(debugger, launch.program)
    if not facts.is_elf or facts.debug:
        return []
    how = _FLAGS.get(facts.language or "", "with `-g`")
    name = PurePath(launch.program).name
    return [
        f"{name} has no debug information: breakpoints on lines do not bind, and there are no locals; build it {how}"
    ]
