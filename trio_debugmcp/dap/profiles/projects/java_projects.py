"""What a project of Maven or Gradle runs: the class that has a `main`."""

from pathlib import Path

from trio_debugmcp.dap.profiles.java.java import has_main
from trio_debugmcp.dap.profiles.java.jvm_sources import SUFFIXES
from trio_debugmcp.dap.profiles.projects.project_program import (
    NoProgram,
    ProjectProgram,
    beginning,
    files_below,
    listed,
)

_OF_THE_JVM = (".kt", ".scala", ".groovy")


def of_java(file: Path, _: str) -> ProjectProgram:
    """Return the only class of a project that has a `main`, by its file.

    Raises:
        NoProgram: there is none, or there are several.
    """
    home = file.parent
    sources = [source for source in files_below(home, ".java") if "test" not in source.relative_to(home).parts]
    programs = [str(source) for source in sources if has_main(beginning(source))]
    if len(programs) == 1:
        return ProjectProgram(program=programs[0], why="its only class with a `main`")
    if programs:
        raise NoProgram(f"'{home}' has several classes with a `main`. Pass one as `program`: {listed(programs)}.")
    other = next((source.suffix for source in files_below(home) if source.suffix in _OF_THE_JVM), None)
    built = "mvn package" if file.name == "pom.xml" else "gradle jar"
    what = f"Build a jar and pass that ({built})" if other else 'Pass a test of it: test="FILE.java::name", or a jar'
    what += f', or a test of it: test="FILE{other}::name"' if other in SUFFIXES else ""
    raise NoProgram(f"'{home}' has no Java source with a `public static void main(String[] args)`. {what}.")
