"""Tests of Kotlin and Scala with JUnit 4 and 5: built by kotlinc or scalac with the sources of their project.

What other runners have is refused, with what launches these. The class of a test has any name, wherever its file is.
"""

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from trio_debugmcp.dap.profiles.compilers import BuildPlan
from trio_debugmcp.dap.profiles.java.jvm_sources import libraries, package_of
from trio_debugmcp.dap.profiles.language import NoSuchTest
from trio_debugmcp.dap.profiles.projects.project_program import files_below
from trio_debugmcp.dap.profiles.test_runners.class_paths import class_path
from trio_debugmcp.dap.profiles.test_runners.junit import FAILURES, NONE_FOUND, RUNNERS, SHORT_RUN, with_five, with_four
from trio_debugmcp.dap.profiles.test_runners.named_test import (
    ANNOTATION,
    NamedTest,
    TestRun,
    at_line,
    block_above,
    blocks_around,
    found_tests,
    no_test,
    source_of,
)
from trio_debugmcp.dap.profiles.test_runners.package_files import project_of, project_roots

TEST = re.compile(
    rf"(?=@(?:Test|ParameterizedTest|RepeatedTest|TestFactory)\b)(?:{ANNOTATION})++"
    r"(?:(?:(?:public|internal|open|override|final)\s+)*(?:fun|def)\s+"
    r"(?P<name>`[^`\n]+`|\w+)[ \t]*(?:\((?P<given>[^)]*)(?:\)|\Z))?)?"
)

CLASS = re.compile(r"\b(?:class|object|interface|trait)\s+(?P<name>\w+)")

_COMMANDS: Mapping[str, tuple[str, ...]] = {
    ".kt": ("kotlinc", SHORT_RUN, "-jvm-target", "1.8"),
    ".scala": ("scalac", SHORT_RUN, "-g:vars"),
}

_TYPES = {
    **{name: name.lower() for name in ("Int", "Long", "Double", "Float", "Short", "Byte", "Boolean", "Char")},
    **{name: f"java.lang.{name}" for name in ("String", "Object")},
}
"""Types of parameters → those of the virtual machine."""

_OTHERS = {
    "org.scalatest": (
        "ScalaTest",
        '"org.scalatest.tools.Runner", args=["-o", "-R", "target/scala-2.13/test-classes", "-s", CLASS, "-z", NAME]',
    ),
    "munit": ("munit", '"org.junit.runner.JUnitCore", args=[CLASS]'),
    "org.specs2": ("specs2", '"specs2.run", args=[CLASS, "ex", NAME]'),
    "io.kotest": ("Kotest", '"org.junit.platform.console.ConsoleLauncher", args=["execute", "--select-class", CLASS]'),
}
"""Package of another runner → its name, and how it is launched."""


def jvm_run(test: NamedTest) -> TestRun:
    """Return how a test of a class is built and run.

    Raises:
        NoSuchTest: the file has no such test, it is of another runner, or there is no JUnit.
    """
    text, file = source_of(test.path), test.path
    _refuse_others(test, text)
    classes, method = _selected(test, text)
    package = package_of(text)
    project = project_of(file, package)
    compiler = _COMMANDS[test.suffix]
    given = [place for place in os.environ.get("CLASSPATH", "").split(os.pathsep) if place]
    needed = [*given, *class_path(project), *libraries(compiler[0])]
    is_five = "org.junit.jupiter" in text
    jars = os.pathsep.join(with_five(test.file, needed) if is_five else with_four(test.file, needed))
    whole = ".".join(filter(None, [package, "$".join(classes)]))
    if method is None:
        selected: tuple[str, ...] = (whole,)
    else:
        name = method["name"].strip("`")
        selected = (f"{whole}#{name}({_types(method)})",) if is_five else (whole, name)
    main = RUNNERS[is_five]
    own, java = list(_sources(file, package, test.suffix)), list(_sources(file, package, ".java"))
    javac = ("javac", SHORT_RUN, "-g", "-proc:none", "-d", "{output}", "-cp")
    return TestRun(
        str(file),
        selected,
        str(project),
        {"CLASSPATH": jars},
        options={"mainClass": main.stem},
        build=BuildPlan(
            (*compiler, "-cp", jars, "-d", "{output}", *own, *java),
            str(project),
            str(file),
            makes="classes",
            then=((*javac, f"{{output}}{os.pathsep}{jars}", *java, str(main)),),
        ),
        ran_none=NONE_FOUND,
        fails_with=FAILURES,
    )


def _refuse_others(test: NamedTest, text: str) -> None:
    for package, (name, launched) in _OTHERS.items():
        if re.search(rf"^[^\S\n]*import[^\S\n]+{re.escape(package)}\b", text, re.MULTILINE):
            raise NoSuchTest(
                f"'{test.file}' is of {name}, which nothing here runs by itself. Build it, and launch it by "
                f'adapter="java", adapter_options={{"classpath": …, "mainClass": …}} with {launched}.'
            )


def _sources(file: Path, package: str, suffix: str) -> Iterator[str]:
    """Yield the sources of a project: below its directories of sources, or else those beside the file."""
    home = project_of(file, package)
    roots = [Path(root) for root in project_roots(file, package)]
    below = [root for root in roots if root != home and root.is_relative_to(home)]
    found = [each for root in below for each in files_below(root, suffix)]
    yield from dict.fromkeys(map(str, [*found, *sorted(file.parent.glob(f"*{suffix}"))]))


def _selected(test: NamedTest, text: str) -> tuple[list[str], re.Match[str] | None]:
    """Return the classes, the outermost first, and the method in them that is meant; no method: all of a class."""
    if test.line is not None:
        method = at_line(text, test.line, TEST)
        return _classes_of(method, text), method
    methods = [(_classes_of(found, text), found) for found in found_tests(text, TEST)]
    names = {".".join([*classes, found["name"].strip("`")]): (classes, found) for classes, found in methods}
    wanted = re.sub(r"[#$]", ".", test.name.removesuffix("()").replace("`", ""))
    fits = [name for name in names if wanted and f".{name}".endswith(f".{wanted}")]
    if len(fits) > 1:
        raise NoSuchTest(f"{len(fits)} tests of '{test.file}' have that name. Pass one of: {', '.join(fits)}.")
    if fits:
        return names[fits[0]]
    whole = {".".join(classes[: number + 1]): classes for classes, _ in methods for number in range(len(classes))}
    meant = [name for name in whole if (f".{name}".endswith(f".{wanted}") if wanted else "." not in name)]
    if len(meant) > 1:
        raise NoSuchTest(f"'{test.file}' has several classes with tests. Pass one of: {', '.join(meant)}.")
    if meant:
        return meant[0].split("."), None
    raise no_test(test.name or test.path.stem, [found["name"].strip("`") for _, found in methods], test.file)


def _classes_of(method: re.Match[str], text: str) -> list[str]:
    """Return the classes that a method is in; without braces, as in Scala 3, the nearest above."""
    place = method.start("name")
    return blocks_around(text, place, CLASS) or list(filter(None, [block_above(text, place, CLASS)]))


def _types(method: re.Match[str]) -> str:
    """Return the types of a method's parameters, by which it is selected."""
    given = [one.partition(":")[2].partition("=")[0].strip() for one in (method["given"] or "").split(",")]
    return ",".join(_TYPES.get(one, one) for one in given if one)
