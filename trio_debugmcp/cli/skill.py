"""`trio-debugmcp skill`: the skill for agents, where hosts look for it, and its installation there."""

import argparse
from pathlib import Path

from trio_debugmcp.cli._output import failed, sentence_of


def add_parser(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add `skill` and its options to the command line."""
    parser = commands.add_parser(
        "skill",
        help="show the skill that teaches agents to debug with this server, or install it where hosts look",
        description="Without an option: print where the skill is, what it holds, and where hosts look for skills.",
    )
    parser.add_argument(
        "--install",
        nargs="?",
        type=Path,
        const=...,
        metavar="DIR",
        help="copy it into a directory of skills, such as .claude/skills or .agents/skills of a project "
        "(default: those of the user in which the hosts of this machine look)",
    )
    parser.add_argument(
        "--agent",
        nargs="?",
        type=Path,
        const=...,
        metavar="DIR",
        help="copy the sub-agent that works by the skill into a directory of agents, such as .claude/agents of a "
        "project (default: that of the user for Claude Code)",
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print or install the skill, or the sub-agent."""
    if arguments.agent is not None:
        code = _install_agent(arguments.agent)
        return code if arguments.install is None else max(code, _install(arguments))
    return _show() if arguments.install is None else _install(arguments)


def _install_agent(directory: object) -> int:
    from trio_debugmcp.skill import OtherSkill, agents_place, install_agent

    try:
        print(install_agent(directory if isinstance(directory, Path) else agents_place()))
    except (OtherSkill, OSError) as error:
        return _refused(error)
    return 0


def _install(arguments: argparse.Namespace) -> int:
    from trio_debugmcp.skill import OtherSkill, places, read_skill

    chosen = [place.directory for place in places() if place.used] if arguments.install is ... else [arguments.install]
    code = 0
    for directory in chosen:
        try:
            print(read_skill().install(directory))
        except (OtherSkill, OSError) as error:
            code = _refused(error)
    return code


def _refused(error: Exception) -> int:
    reason = f"cannot write {sentence_of(error)}" if isinstance(error, OSError) else error
    return failed("skill", reason, 1)


def _show() -> int:
    from trio_debugmcp import skill

    ours = skill.read_skill()
    print(f"{ours.name}: {ours.frontmatter['description']}\n")
    for path, text in ours.files.items():
        print(f"  {Path(skill.__file__).parent / path}  {len(text)} bytes")
    print("\nWhere hosts look for skills of the user, and what is there:")
    for place in skill.places():
        print(f"  {place.directory / ours.name}  {ours.state(place.directory)}  ({place.hosts})")
    print("\nIn a project: .agents/skills, and .claude/skills for Claude Code. `trio-debugmcp skill --install [DIR]`")
    print("copies it there. Hosts that know the skills extension of MCP get it from the server.")
    print("`trio-debugmcp skill --agent [DIR]` copies a sub-agent that works by it into .claude/agents.")
    return 0
