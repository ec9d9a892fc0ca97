"""Kotlin and Scala on the virtual machine: classes that are not called like their file, and what builds them."""

import shutil
from pathlib import Path
from typing import Any

from tests.languages.conftest import installed, need
from tests.real.conftest import Connect
from tests.server.scene import failure

KOTLIN = """package depot.stock

class Shelf(val name: String) {
    private val prices = arrayOf(2, 3)

    fun total(): Int {
        val sum = prices[0] + prices[1]
        return sum // total
    }

    companion object {
        fun empty(): Shelf {
            return Shelf("none") // empty
        }
    }
}

fun main() {
    val shelf = Shelf("fig") // first
    val doubled = { price: Int ->
        price * 2 // lambda
    }
    println(shelf.total())
    println(doubled(4))
    println(doubled(5))
    println(Shelf.empty().total())
}
"""

SCALA = """package depot
package stock

class Shelf(val prices: Array[Int]) {
  def total: Int = prices.map { price =>
    price * 2 // lambda
  }.sum
}

object Shelf {
  def apply(): Shelf = new Shelf(Array(2, 3)) // make
}

object Till {
  def main(args: Array[String]): Unit = {
    val shelf = Shelf() // first
    println(shelf.total)
  }
}
"""


def at(file: Path, mark: str) -> dict[str, Any]:
    lines = file.read_text().splitlines()
    (number,) = [number for number, line in enumerate(lines, 1) if line.endswith(f"// {mark}")]
    return {"file": str(file), "line": number}


def source(directory: Path, name: str, text: str, compiler: str, package: str) -> Path:
    installed("java")
    need(compiler, shutil.which(compiler), f"apt-get install {package}")
    file = directory / name
    file.write_text(text)
    return file


async def test_lines_of_kotlin_stop_in_classes_of_any_name_whether_these_are_loaded_or_not(
    debugging: Connect, tmp_path: Path
) -> None:
    file = source(tmp_path, "shelf.kt", KOTLIN, "kotlinc", "kotlin")
    async with debugging() as client:
        stop = await client.call("debug_launch", program=str(file), breakpoints=[at(file, "total")])
        assert (stop["reason"], stop["at"]) == (
            "Breakpoint",
            f"{file}:{at(file, 'total')['line']} in depot.stock.Shelf.total",
        )
        assert stop["locals"]["sum"] == "5"
        assert stop["stack"][0] == f"depot.stock.ShelfKt.main :{at(file, 'lambda')['line'] + 2}"
        # The companion's class is loaded by now; that of the lambda is, too.
        await client.call("breakpoint_set", **at(file, "lambda"))
        await client.call("breakpoint_set", **at(file, "empty"))
        seen = []
        while (stop := await client.call("debug_continue"))["state"] == "Paused":
            seen.append((stop["breakpoints"][0], stop["locals"].get("price")))
        assert seen == [("bp-2", "4"), ("bp-2", "5"), ("bp-3", None), ("bp-1", None)]
        assert (stop["stdout"].splitlines()[-1], stop["exitCode"]) == ("5", 0)
        assert [each.name for each in tmp_path.iterdir()] == ["shelf.kt"]
        file.write_text(KOTLIN.replace("return sum", "return nope"))
        failed = await failure(client, "debug_launch", program=str(file))
        assert (failed.code, f"{at(file, 'total')['line']}: unresolved reference: nope" in failed.message) == (
            "LAUNCH_FAILED",
            True,
        )


async def test_lines_of_scala_stop_in_objects_classes_and_functions_without_a_name(
    debugging: Connect, tmp_path: Path
) -> None:
    file = source(tmp_path, "Till.scala", SCALA, "scalac", "scala")
    async with debugging() as client:
        breakpoints = [at(file, "lambda"), at(file, "make")]
        entry = await client.call("debug_launch", program=str(file))
        assert (entry["reason"], entry["at"]) == (
            "Entry",
            f"{file}:{at(file, 'first')['line']} in depot.stock.Till$.main",
        )
        for each in breakpoints:
            await client.call("breakpoint_set", **each)
        seen = []
        while (stop := await client.call("debug_continue"))["state"] == "Paused":
            seen.append((stop["breakpoints"][0], stop["locals"].get("price")))
        assert seen == [("bp-2", None), ("bp-1", "2"), ("bp-1", "3")]
        assert (stop["stdout"], stop["exitCode"]) == ("10\n", 0)


async def test_a_source_of_kotlin_without_a_main_says_what_it_lacks(debugging: Connect, tmp_path: Path) -> None:
    file = source(tmp_path, "shelf.kt", KOTLIN.replace("fun main()", "fun other()"), "kotlinc", "kotlin")
    async with debugging() as client:
        failed = await failure(client, "debug_launch", program=str(file))
        assert "it has no `main` that a program begins in" in failed.message
