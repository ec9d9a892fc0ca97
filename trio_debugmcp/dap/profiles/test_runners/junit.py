"""Tests of Java: JUnit 4 and 5, of a project of Maven or Gradle, or of files with their jars beside them.

The test's file is built by javac with the sources of its project, and run by a small program of ours, which asks JUnit
for one method: RunJUnit4.java or RunJUnit5.java, built with it.
"""

import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from trio_debugmcp.dap.profiles.compilers import BuildPlan
from trio_debugmcp.dap.profiles.language import NoSuchTest
from trio_debugmcp.dap.profiles.test_runners.class_paths import Artifact, class_path, jars_of
from trio_debugmcp.dap.profiles.test_runners.named_test import (
    ANNOTATION,
    NamedTest,
    TestRun,
    at_line,
    blocks_around,
    found_tests,
    no_test,
    source_of,
)
from trio_debugmcp.dap.profiles.test_runners.package_files import project_of, project_roots

TEST = re.compile(
    rf"(?=@(?:Test|ParameterizedTest|RepeatedTest|TestFactory)\b)(?:{ANNOTATION})++"
    r"(?:(?:(?:public|private|protected|static|final)\s+)*[\w<>\[\].,?]+\s+(?P<name>\w+)\s*\()?"
)

PACKAGE = re.compile(r"^[^\S\n]*package[^\S\n]+([\w.]+)\s*;", re.MULTILINE)

_CLASS = re.compile(r"\b(?:class|interface|enum|record)\s+(?P<name>\w+)")

_LANG = ("String", "Integer", "Long", "Double", "Float", "Short", "Byte", "Character", "Boolean", "Object", "Class")
"""Types that are not imported."""

RUNNERS = [Path(__file__).with_name(f"RunJUnit{version}.java") for version in (4, 5)]
"""The small programs of ours."""

SHORT_RUN = "-J-XX:TieredStopAtLevel=1"
"""For a compiler of a few files, which runs too shortly to gain from making its own code as fast as can be."""

NONE_FOUND = r"(?m)^\[\s*0 tests found\s*\]|^OK \(0 tests\)"
"""What they write where no test was of that name."""

_FOUR = [Artifact("junit", "junit"), Artifact("org.hamcrest", "hamcrest-core"), Artifact("org.hamcrest", "hamcrest")]

_VERSIONED = re.compile(
    r"(?P<name>junit-(?:jupiter-(?:api|engine)|platform-(?:engine|launcher)))-(?P<version>[\w.-]+)\.jar$"
)

FAILURES = (
    "java.lang.AssertionError",
    "org.opentest4j.AssertionFailedError",
    "org.opentest4j.MultipleFailuresError",
    "org.junit.ComparisonFailure",
    "junit.framework.AssertionFailedError",
    "junit.framework.ComparisonFailure",
)


def junit_run(test: NamedTest) -> TestRun:
    """Return how a test of a class is built and run.

    Raises:
        NoSuchTest: the file has no such test, or there is no JUnit.
    """
    text, file = source_of(test.path), test.path
    inner, method = _selected(test, text)
    package = PACKAGE.search(text)
    within = package[1] if package is not None else ""
    project = project_of(file, within)
    full = f"{package[1]}.{file.stem}" if package is not None else file.stem
    is_five = "org.junit.jupiter" in text
    given = [place for place in os.environ.get("CLASSPATH", "").split(os.pathsep) if place]
    needed = [*given, *class_path(project)]
    jars = os.pathsep.join(with_five(test.file, needed) if is_five else with_four(test.file, needed))
    main = RUNNERS[is_five]
    roots = os.pathsep.join(project_roots(file, within))
    javac = ("javac", SHORT_RUN, "-g", "-proc:none", "-sourcepath", roots, "-cp", jars, "-d", "{output}")
    whole = "$".join([full, *inner])
    if method is None:
        selected: tuple[str, ...] = (whole,)
    else:
        name = method["name"]
        selected = (f"{whole}#{name}({_types(method, full, text)})",) if is_five else (whole, name)
    return TestRun(
        str(file),
        selected,
        str(project),
        {"CLASSPATH": jars},
        options={"mainClass": main.stem},
        build=BuildPlan((*javac, str(file), str(main)), str(project), str(file), makes="classes"),
        ran_none=NONE_FOUND,
        fails_with=FAILURES,
    )


def with_five(file: str, needed: Sequence[str]) -> list[str]:
    """Return a class path with the engine of JUnit 5 and the launcher of the same version, which builds bring alone.

    Raises:
        NoSuchTest: one of them is not on this machine; the message has the command that gets it.
    """
    versions = _versions(needed)
    jars = list(needed)
    if "junit-jupiter-engine" not in versions:
        engine = Artifact("org.junit.jupiter", "junit-jupiter-engine", versions.get("junit-jupiter-api"))
        jars = list(dict.fromkeys([*jars, *map(str, jars_of([engine]))]))
    platform = _versions(jars).get("junit-platform-engine")
    if platform is not None and "junit-platform-launcher" not in versions:
        launcher = Artifact("org.junit.platform", "junit-platform-launcher", platform)
        jars = list(dict.fromkeys([*jars, *map(str, jars_of([launcher]))]))
    if platform is None or _versions(jars).get("junit-platform-launcher") != platform:
        what = f"org.junit.platform:junit-platform-launcher:{platform}" if platform else _ENGINE
        raise NoSuchTest(_missing(file, "JUnit 5", what))
    return jars


def with_four(file: str, needed: Sequence[str]) -> list[str]:
    """Return a class path with JUnit 4, and what that needs.

    Raises:
        NoSuchTest: it is not on this machine; the message has the command that gets it.
    """
    jars = list(dict.fromkeys([*needed, *map(str, jars_of(_FOUR))]))
    if not any(re.match(r"junit-?4?[-.\d]*\.jar$", Path(jar).name) for jar in jars):
        raise NoSuchTest(_missing(file, "JUnit 4", "junit:junit:4.13.2"))
    return jars


_ENGINE = "org.junit.jupiter:junit-jupiter-engine:5.11.4"


def _versions(jars: Iterable[str]) -> dict[str, str]:
    found = [_VERSIONED.search(jar) for jar in reversed(list(jars))]
    return {one["name"]: one["version"] for one in found if one is not None}


def _missing(file: str, what: str, artifact: str) -> str:
    return (
        f"'{file}' needs {what}, and {artifact} is neither in ~/.m2, Gradle's cache nor CLASSPATH. "
        f"Get it with: mvn dependency:get -Dartifact={artifact}"
    )


def _selected(test: NamedTest, text: str) -> tuple[list[str], re.Match[str] | None]:
    """Return the classes within that of the file, and the method in them that is meant; no method: all of a class.

    A method is named as `takesOut`, `ShelfTest#takesOut`, `ShelfTest.takesOut`, `Inner.takesOut`.
    """
    if test.line is not None:
        method = at_line(text, test.line, TEST)
        return classes_of(method, text), method
    outer = test.path.stem
    path = [word for word in re.split(r"[#.$]", test.name.removesuffix("()")) if word]
    if path in ([], [outer]):
        return [], None
    methods = {".".join([outer, *classes_of(found, text), found["name"]]): found for found in found_tests(text, TEST)}
    fits = [name for name in methods if f".{name}".endswith(f".{'.'.join(path)}")]
    if len(fits) > 1:
        raise NoSuchTest(f"{len(fits)} tests of '{test.file}' have that name. Pass one of: {', '.join(fits)}.")
    if fits:
        return classes_of(methods[fits[0]], text), methods[fits[0]]
    inner = next((classes_of(found, text) for found in methods.values() if path[-1] in classes_of(found, text)), None)
    if inner is None:
        raise no_test(test.name, [found["name"] for found in methods.values()], test.file)
    return inner[: inner.index(path[-1]) + 1], None


def classes_of(method: re.Match[str], text: str) -> list[str]:
    """Return the classes that a method is in, without the one of the file."""
    return blocks_around(text, method.start("name"), _CLASS)[1:]


def _types(method: re.Match[str], full: str, text: str) -> str:
    """Return the types of a method's parameters, by which it is selected."""
    name = method["name"]
    found = re.compile(rf"\b{name}\s*\(([^)]*)\)\s*(?:throws\s[^{{]*)?\{{").search(text, method.start("name"))
    parameters = [one for one in (found[1] if found is not None else "").split(",") if one.strip()]
    return ",".join(_type_of(one, full, text) for one in parameters)


def _type_of(parameter: str, full: str, text: str) -> str:
    """Return the whole name of a parameter's type: `java.lang.String` of `final String word`."""
    written = re.sub(r"<.*>", "", re.sub(r"@\w+(?:\([^)]*\))?|\bfinal\b", "", parameter)).split()[0]
    name = written.removesuffix("[]")
    imported = re.search(rf"^\s*import\s+([\w.]+\.{re.escape(name)})\s*;", text, re.MULTILINE)
    if imported is not None:
        whole = imported[1]
    elif name in _LANG:
        whole = f"java.lang.{name}"
    else:
        whole = name if name.islower() else ".".join(filter(None, (full.rpartition(".")[0], name)))
    return whole + written[len(name) :]
