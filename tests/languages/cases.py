"""The adapters of the acceptance test: a program of the same shape for each, and what an adapter cannot do.

Each program adds up what is in a shop (`add` in a loop), prints, reads a line, and exits with 7; with `crash` it
crashes after the loop, with `sleep` it sleeps. Its lines are named by the comments at their ends.
"""

import re
import shutil
import subprocess
import sysconfig
from collections.abc import Callable, Mapping
from pathlib import Path

from msgspec import Struct

from tests.languages.conftest import TEST_SECONDS, need

PROGRAMS = Path(__file__).parent.parent / "programs" / "acceptance"

GO_BUILD = ("build", "-gcflags=all=-N -l", "-o")
"""Without optimisation, as delve builds."""

Build = Callable[[Path, Path], Path]
"""Makes the program from its source, in a directory; returns what is launched."""


def _gxx(source: Path, directory: Path) -> Path:
    return _built([need("g++", shutil.which("g++"), "apt-get install g++"), "-g", "-O0", "-o"], source, directory)


def _gfortran(source: Path, directory: Path) -> Path:
    compiler = need("gfortran", shutil.which("gfortran"), "apt-get install gfortran")
    return _built([compiler, "-g", "-O0", "-o"], source, directory)


def _gnatmake(source: Path, directory: Path) -> Path:
    compiler = need("gnatmake", shutil.which("gnatmake"), "apt-get install gnat")
    return _built([compiler, "-g", "-O0", "-o"], source, directory)


def _gdc(source: Path, directory: Path) -> Path:
    return _built([need("gdc", shutil.which("gdc"), "apt-get install gdc"), "-g", "-O0", "-o"], source, directory)


def _fpc(source: Path, directory: Path) -> Path:
    compiler = need("fpc", shutil.which("fpc"), "apt-get install fp-compiler")
    program = directory / source.stem
    command = [compiler, "-gw3", "-O-", f"-o{program}", str(source)]
    subprocess.run(command, check=True, timeout=TEST_SECONDS, cwd=directory, stdout=subprocess.DEVNULL)
    return program


def zig() -> str:
    """The compiler of Zig, as its distribution or the package of PyPI has it."""
    beside = sysconfig.get_path("scripts")
    found = shutil.which("zig") or shutil.which("python-zig") or shutil.which("python-zig", path=beside)
    return need("zig", found, "pip install ziglang")


def _zig(source: Path, directory: Path) -> Path:
    program = directory / source.stem
    command = [zig(), "build-exe", "-O", "Debug", "-fllvm", f"-femit-bin={program}", str(source)]
    subprocess.run(command, check=True, timeout=TEST_SECONDS, cwd=directory)
    return program


def _go(source: Path, directory: Path) -> Path:
    return _built([need("go", shutil.which("go"), "apt-get install golang-go"), *GO_BUILD], source, directory)


def _built(command: list[str], source: Path, directory: Path) -> Path:
    program = directory / source.stem
    subprocess.run([*command, str(program), str(source)], check=True, timeout=TEST_SECONDS, cwd=directory)
    return program


class Case(Struct, frozen=True, kw_only=True):
    """One adapter.

    Attributes:
        source: its program, in tests/programs/acceptance.
        build: what makes the program of it; None: it is run as it is.
        function: the name by which a breakpoint is set on `add`, and how the stop there names it.
        condition: true in the third turn of the loop only.
        names: how it spells `i`, `total`, `item`, `items` in locals, as far as that differs.
        path: the path of the second item, or of all of them.
        price: an expression for the price of the second item.
        unknown: an expression that fails.
        crash: how the exception begins with which the program crashes.
        arguments: with which arguments it crashes and sleeps, if not with `crash` and `sleep`.
        asked: what must be asked for to stop there; nothing, if what is not caught stops by itself.
        compiler: what builds it for the launch, of which package of Debian, where that is not part of the adapter.
        cannot: what it cannot do, and why; docs/adapters.md shows it.
    """

    source: str
    build: Build | None = None
    function: str = "add"
    condition: str = "i == 2"
    names: Mapping[str, str] = {}
    path: str = "items[1]"
    price: str = "items[1].price"
    unknown: str = "nosuch"
    crash: str
    arguments: Mapping[str, list[str]] = {}
    asked: tuple[Mapping[str, object], ...] = ()
    compiler: str = ""
    package: str = ""
    cannot: Mapping[str, str] = {}

    def line(self, mark: str) -> int:
        """The line of the source that ends with this comment."""
        lines = (PROGRAMS / self.source).read_text().splitlines()
        (number,) = [number for number, line in enumerate(lines, 1) if re.search(rf"(//|#|!|--) {mark}$", line)]
        return number

    def local(self, name: str) -> str:
        """How the program spells a variable."""
        return self.names.get(name, name)


CASES = {  # by the adapter, and its second language behind a comma
    "debugpy": Case(source="shop.py", crash="ValueError: bad plum"),
    "gdb": Case(
        source="shop.cpp",
        build=_gxx,
        crash="SIGSEGV: ",
        cannot={
            "input": "its program's standard input is empty: gdb's own is the DAP connection",
            "streams": "it reports both streams of its program as one",
        },
    ),
    "gdb, Fortran": Case(
        source="shop.f90",
        build=_gfortran,
        path="items(2)",
        price="items(2)%price",
        crash="error stop",
        cannot={"input": "as for C++", "streams": "as for C++"},
    ),
    "gdb, Ada": Case(
        source="shop_main.adb",
        build=_gnatmake,
        function="add",
        condition="i = 2",
        path="items(1)",
        price="items(1).price",
        crash="Ada exception",
        cannot={"input": "as for C++", "streams": "as for C++"},
    ),
    "gdb, D": Case(
        source="shop.d",
        build=_gdc,
        function="shop.add",
        path="items.ptr[1]",
        price="items.ptr[1].price",
        crash="SIGSEGV: ",
        cannot={"input": "as for C++", "streams": "as for C++"},
    ),
    "gdb, Pascal": Case(
        source="shop.pas",
        build=_fpc,
        condition="i = 2",
        crash="SIGFPE: ",
        cannot={"input": "as for C++", "streams": "as for C++"},
    ),
    "gdb, Zig": Case(
        source="shop.zig",
        build=_zig,
        function="shop.add",
        path="items.ptr[1]",
        price="items.ptr[1].price",
        crash="panic: index out of bounds: index 3, len 3",
        cannot={"input": "as for C++", "streams": "as for C++"},
    ),
    "lldb-dap": Case(source="shop.cpp", build=_gxx, crash="SIGSEGV: "),
    "codelldb": Case(
        source="shop.cpp",
        build=_gxx,
        crash="SIGSEGV: ",
        cannot={
            "input": "its program has a terminal of the adapter's, to which no input comes",
            "streams": "it reports both streams of its program as one",
        },
    ),
    "rdbg": Case(
        source="shop.rb",
        function="Object#add",
        crash="ArgumentError: bad plum",
        asked=({"exception": "*"},),
        cannot={
            "step out to the caller": "it stops at the end of the function, before that returns",
            "function breakpoints": "it declares them, and sets none",
        },
    ),
    "bash-dap": Case(
        source="shop.sh",
        condition="[[ $i == 2 ]]",
        names={"item": "price"},
        path="prices",
        price="${prices[1]}",
        crash="",
        cannot={"exceptions": "Bash has none"},
    ),
    "cmake": Case(
        source="shop.cmake",
        names={"item": "price"},
        price="price",
        crash="CMake Error: bad plum",
        asked=({"exception": "*"},),
        arguments={"crash": ["-DCRASH=1"], "sleep": ["-DSLEEP=1"]},
        cannot={
            "input": "CMake's scripts have none",
            "structures": "all values of CMake are texts",
            "streams": "messages go to standard error",
            "function breakpoints": "it does not declare them",
        },
    ),
    "perl-ls": Case(
        source="shop.pl",
        function="main::add",
        condition="$i == 2",
        names={"i": "$i", "total": "$total", "item": "$item", "sum": "$sum"},
        path="$items[1]",
        price="$items[1]{price}",
        unknown="nosuch()",
        cannot={
            "step out": "it would end the program, or never answer",
            "function breakpoints": "it does not declare them",
            "exceptions": "it does not declare any",
            "input": "its program has a terminal of the adapter's, to which no input comes",
            "streams": "it reports both streams of its program as one",
        },
        crash="bad plum",
    ),
    "java": Case(
        source="Shop.java",
        function="Shop.add",
        crash="java.lang.IllegalStateException: bad plum",
        cannot={"input": "its program's standard input is a pipe of the adapter's, into which no input comes"},
    ),
    "java, Kotlin": Case(
        source="shop.kt",
        function="ShopKt.add",
        crash="java.lang.IllegalStateException: bad plum",
        cannot={"input": "as for Java"},
        compiler="kotlinc",
        package="kotlin",
    ),
    "java, Scala": Case(
        source="Shop.scala",
        function="Shop$.add",
        crash="java.lang.IllegalStateException: bad plum",
        cannot={"input": "as for Java"},
        compiler="scalac",
        package="scala",
    ),
    "lua": Case(
        source="shop.lua",
        path="items[2]",
        price="items[2].price",
        unknown="nosuch.price",
        crash="error: bad plum",
    ),
    "delve": Case(source="shop.go", build=_go, function="main.add", crash="panic"),
    "js-debug": Case(
        source="shop.js",
        condition="i === 2",
        crash="RangeError: bad plum",
    ),
}
