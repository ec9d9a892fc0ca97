"""The skill: how an agent finds a bug with this server's tools, as files in the Agent Skills format.

Owns `SKILL.md`, the files that it refers to, and where agents look for skills. The server sends the files to clients
(server/skills.py), and `trio-debugmcp skill` copies them:

    skill = read_skill()
    skill.frontmatter["name"], skill.files["SKILL.md"]
    skill.install(Path(".agents/skills"))
"""

import os
import re
from functools import cache
from pathlib import Path

from msgspec import Struct

MAIN_FILE = "SKILL.md"
"""The file by which a directory is a skill. It refers to the others by paths relative to it."""

_HOME = Path(__file__).parent

_HEAD = re.compile(r"---\n(.*?\n)---\n", re.DOTALL)
_FIELD = re.compile(r"([a-z-]+): ([A-Za-z].*)")
_NOT_PLAIN = re.compile(r": | #|:$|^(?:true|false|yes|no|on|off|null)$", re.IGNORECASE)
"""What YAML does not read as the text of a plain scalar. The head needs no YAML parser as long as it has none of it."""


class OtherSkill(Exception):
    """The directory has another skill of the same name, which is not replaced."""


class Skill(Struct, frozen=True):
    """The skill's files by their path relative to `SKILL.md`, that one first, and the fields at the head of it."""

    frontmatter: dict[str, str]
    files: dict[str, bytes]

    @property
    def name(self) -> str:
        """The name, which is also that of the directory in which a host finds it."""
        return self.frontmatter["name"]

    def state(self, skills: Path) -> str:
        """Return what is in a directory of skills: `missing`, `installed`, `outdated`, or `another` skill."""
        home = skills / self.name
        try:
            found = (home / MAIN_FILE).read_bytes()
        except OSError:
            return "another" if _holds_anything(home) else "missing"
        if not found.startswith(f"---\nname: {self.name}\n".encode()):
            return "another"
        same = all((home / path).is_file() and (home / path).read_bytes() == text for path, text in self.files.items())
        return "installed" if same else "outdated"

    def install(self, skills: Path) -> Path:
        """Write the files in a directory of skills, over those of another version, and return the skill's directory.

        Raises:
            OtherSkill: there is something else of that name.
            OSError: a file cannot be written.
        """
        home = skills / self.name
        if self.state(skills) == "another":
            raise OtherSkill(f"{home} is not this skill; move it away, or choose another directory")
        for path, text in self.files.items():
            file = home / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(text)
        return home


def _holds_anything(directory: Path) -> bool:
    """Return whether there is something in a directory; of one that cannot be looked into nothing is known."""
    try:
        return any(directory.iterdir())
    except OSError:
        return False


AGENT_FILE = "agent.md"
"""A sub-agent that works by the skill, for hosts that have such files: its tools are those of the short list."""


def read_agent() -> bytes:
    """Read the sub-agent that this package brings."""
    return (_HOME / AGENT_FILE).read_bytes()


def install_agent(agents: Path) -> Path:
    """Write the sub-agent in a directory of agents, over that of another version, and return its file.

    Raises:
        OtherSkill: there is another agent of that name.
        OSError: the file cannot be written.
    """
    file = agents / "debugger.md"
    mark = b"skills: trio-debugmcp"
    if file.exists() and mark not in file.read_bytes():
        raise OtherSkill(f"{file} is not this agent; move it away, or choose another directory")
    agents.mkdir(parents=True, exist_ok=True)
    file.write_bytes(read_agent())
    return file


@cache
def read_skill() -> Skill:
    """Read the skill that this package brings."""
    others = sorted(path.relative_to(_HOME).as_posix() for path in _HOME.glob("*/*.md"))
    files = {path: (_HOME / path).read_bytes() for path in (MAIN_FILE, *others)}
    return Skill(read_frontmatter(files[MAIN_FILE].decode()), files)


def read_frontmatter(text: str) -> dict[str, str]:
    """Return the fields at the head of a skill.

    Raises:
        ValueError: the head is not there, or is more than lines of a name and a plain text.
    """
    head = _HEAD.match(text)
    if head is None:
        raise ValueError(f"{MAIN_FILE} has no head between two lines of ---")
    fields = {}
    for line in head[1].splitlines():
        field = _FIELD.fullmatch(line)
        if field is None or _NOT_PLAIN.search(field[2]):
            raise ValueError(f"the head of {MAIN_FILE} has a line that is not `name: plain text`: {line}")
        fields[field[1]] = field[2]
    return fields


# --- Where agents look ------------------------------------------------------------------------------------------------


class SkillDirectory(Struct, frozen=True):
    """A directory in which hosts look for skills, for everything that the user does on this machine."""

    directory: Path
    hosts: str
    used: bool
    """Whether such a host seems to be on this machine. Many look in the first place, so it always is."""


def _claude() -> Path:
    return Path(os.environ.get("CLAUDE_CONFIG_DIR") or Path(os.path.expanduser("~")) / ".claude")


def agents_place() -> Path:
    """Return the directory in which Claude Code looks for the user's agents."""
    return _claude() / "agents"


def places() -> list[SkillDirectory]:
    """Return the directories of the user's skills. In a project the directories have the same names."""
    home, claude = Path(os.path.expanduser("~")), _claude()
    return [
        SkillDirectory(home / ".agents" / "skills", "Codex, GitHub Copilot and VS Code, Gemini CLI, others", True),
        SkillDirectory(claude / "skills", "Claude Code", os.path.isdir(claude)),
    ]
