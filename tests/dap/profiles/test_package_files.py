"""Files that are named by their package are found where packages begin: of the program's own, and of its project."""

from pathlib import Path

import pytest

from trio_debugmcp.dap.profiles.test_runners.package_files import file_named


def written(file: Path, text: str = "") -> str:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return str(file)


def test_beside_a_source_without_a_project_packages_begin_where_its_own_does(tmp_path: Path) -> None:
    program = written(tmp_path / "shop" / "Till.java", "/* a till */\npackage shop;\nclass Till {}\n")
    item = written(tmp_path / "shop" / "stock" / "Item.java")
    written(tmp_path / "shop" / "shop" / "Lost.java")
    assert file_named("shop/stock/Item.java", [program]) == item
    assert file_named("shop/Till.java", [program]) == program
    assert file_named("shop/Lost.java", [program]) is None  # below another directory than that of the packages


@pytest.mark.parametrize("program", ["src/test/java/shop/ItemTest.java", "target/till.jar", "target/classes/A.class"])
def test_in_a_project_they_begin_in_its_sources(tmp_path: Path, program: str) -> None:
    (tmp_path / "pom.xml").touch()
    item = written(tmp_path / "src" / "main" / "java" / "shop" / "Item.java")
    helper = written(tmp_path / "src" / "test" / "java" / "shop" / "Helper.java")
    launched = written(tmp_path / program, "package shop;")
    assert [file_named(f"shop/{name}.java", [launched]) for name in ("Item", "Helper", "None")] == [item, helper, None]


def test_what_is_named_by_no_file_is_looked_for_where_the_program_runs(tmp_path: Path) -> None:
    item = written(tmp_path / "shop" / "Item.kt")
    beside = written(tmp_path / "other" / "shop" / "Item.kt")
    assert file_named("shop/Item.kt", [str(tmp_path / "gone" / "Till.java"), str(tmp_path)]) == item
    assert file_named("shop/Item.kt", [str(tmp_path / "other" / "till.jar"), str(tmp_path)]) == beside
    assert file_named("shop/Item.kt", []) is None
