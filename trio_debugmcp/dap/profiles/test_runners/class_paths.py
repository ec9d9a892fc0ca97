"""The class path of a Java project, from what Maven, Gradle and people have left on this machine. Reads files only.

    class_path(Path("/src/shop"))      # ["/src/shop/target/classes", "/home/ann/.m2/…/junit-4.13.2.jar"]

Dependencies are those that the project's own file names, with what their own files name in turn; a version that another
file decides is the newest that is there. Where Maven has run the tests before, its report has the whole class path.
"""

import os
import re
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path

from msgspec import Struct

PROJECT_FILES = ("pom.xml", "build.gradle", "build.gradle.kts")

_MAX_BYTES = 4 * 1024 * 1024

_MAX_ARTIFACTS = 400

_MAX_REPORTS = 20

_SYSTEM = Path("/usr/share/maven-repo")
"""The repository of Debian's packages."""

_MADE = ("target/classes", "target/test-classes", "src/main/resources", "src/test/resources")

_BESIDE = ("lib", "libs", ".")
"""Directories of a project in which people keep jars."""

_REPORTED = re.compile(r'<property name="surefire\.(?:test|real)\.class\.path" value="([^"]*)"')

_DEPENDENCY = re.compile(r"<dependency>(.*?)(?:</dependency>|\Z)", re.DOTALL)

_MANAGED = re.compile(r"<(dependencyManagement|build|profiles|reporting)>.*?(?:</\1>|\Z)", re.DOTALL)

_PARENT = re.compile(r"<parent>(.*?)(?:</parent>|\Z)", re.DOTALL)

_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)

_GRADLE = re.compile(r"""["'](?P<group>[\w.-]+):(?P<name>[\w.-]+)(?::(?P<version>[^"':@]+))?["'@:]""")


class Artifact(Struct, frozen=True):
    """A library by its coordinates; without a version the newest that is there."""

    group: str
    name: str
    version: str | None = None


def class_path(project: Path) -> list[str]:
    """Return the directories and jars of a project that are there, with those that they need."""
    own = [str(project / place) for place in _MADE if (project / place).is_dir()]
    beside = [str(jar) for place in _BESIDE for jar in sorted((project / place).glob("*.jar"))]
    reported = _reported(project)
    found = reported or [str(jar) for jar in jars_of(_declared(project))]
    return list(dict.fromkeys([*own, *found, *beside]))


def jars_of(wanted: list[Artifact]) -> list[Path]:
    """Return the jars of libraries and of what they depend on, the first of each name."""
    found: dict[tuple[str, str], Path | None] = {}
    waiting = list(wanted)
    while waiting and len(found) < _MAX_ARTIFACTS:
        artifact = waiting.pop(0)
        key = artifact.group, artifact.name
        if key in found:
            continue
        places = [(place, _below(place, f"{artifact.name}-{place.name}.jar")) for place in _folders(artifact)]
        if not places:
            continue
        place, jar = next((one for one in places if one[1] is not None), places[0])
        found[key] = jar
        waiting += _dependencies(_text(_below(place, f"{artifact.name}-{place.name}.pom")), tests=False)
    return [jar for jar in found.values() if jar is not None]


def _repositories() -> list[Path]:
    local = os.environ.get("MAVEN_REPO_LOCAL")
    return [Path(local) if local else Path.home() / ".m2" / "repository", _SYSTEM]


def _folders(artifact: Artifact) -> Iterator[Path]:
    """Yield the directories of an artifact's version: in Maven's repositories, and in Gradle's cache."""
    gradle = Path(os.environ.get("GRADLE_USER_HOME") or Path.home() / ".gradle") / "caches/modules-2/files-2.1"
    places = [root / artifact.group.replace(".", "/") / artifact.name for root in _repositories()]
    for place in (*places, gradle / artifact.group / artifact.name):
        if artifact.version:
            yield from filter(Path.is_dir, [place / artifact.version])
        elif place.is_dir():
            versions = [folder for folder in place.iterdir() if folder.is_dir()]
            yield from sorted(versions, key=lambda folder: _order(folder.name), reverse=True)


def _order(version: str) -> tuple[list[int], bool]:
    """Return what versions are compared by; one that is not released comes before its release."""
    return [int(number) for number in re.findall(r"\d+", version)], not re.search(r"[A-Za-z]", version)


def _below(place: Path, name: str) -> Path | None:
    """Return a file of a version, which Gradle keeps in a directory named by its hash."""
    return next((path for path in (place / name, *place.glob(f"*/{name}")) if path.is_file()), None)


def _declared(project: Path) -> list[Artifact]:
    pom = _text(project / "pom.xml")
    if pom:
        return _dependencies(pom, tests=True)
    text = "".join(_text(project / name) for name in PROJECT_FILES[1:])
    return [Artifact(found["group"], found["name"], found["version"]) for found in _GRADLE.finditer(text)]


def _dependencies(pom: str, *, tests: bool) -> list[Artifact]:
    """Return the libraries that a file of Maven's names; `tests`: also those that only tests need."""
    text = _COMMENT.sub("", pom)
    bare = _MANAGED.sub("", text)
    properties = dict(re.findall(r"<([\w.-]+)>([^<>]*)</\1>", text))
    managed = {
        (_field(one, "groupId", properties), _field(one, "artifactId", properties)): _field(one, "version", properties)
        for one in _DEPENDENCY.findall(text)
    }
    parent = _PARENT.search(text)
    if parent is not None:
        properties.setdefault("project.version", _field(parent[1], "version", {}) or "")
    found = []
    for one in _DEPENDENCY.findall(bare):
        scope = _field(one, "scope", properties)
        if _field(one, "optional", properties) == "true" or (scope in ("test", "provided", "system") and not tests):
            continue
        group, name = _field(one, "groupId", properties), _field(one, "artifactId", properties)
        version = _field(one, "version", properties) or managed.get((group, name))
        if group and name:
            found.append(Artifact(group, name, version))
    return found


def _field(text: str, name: str, properties: Mapping[str, str]) -> str | None:
    found = re.search(rf"<{name}>\s*([^<]*?)\s*</{name}>", text)
    if found is None:
        return None
    value = re.sub(r"\$\{([^}]*)\}", lambda one: properties.get(one[1], properties.get("version", "")), found[1])
    return None if value.startswith(("[", "(")) else value


def _reported(project: Path) -> list[str]:
    """Return the class path with which Maven has run the tests, as far as it is still there."""
    for report in islice((project / "target" / "surefire-reports").glob("TEST-*.xml"), _MAX_REPORTS):
        found = _REPORTED.search(_text(report))
        if found is not None:
            return [place for place in found[1].split(os.pathsep) if place and os.path.exists(place)]
    return []


def _text(file: Path | None) -> str:
    if file is None:
        return ""
    try:
        with file.open("rb") as source:
            return source.read(_MAX_BYTES).decode(errors="replace")
    except OSError:
        return ""
