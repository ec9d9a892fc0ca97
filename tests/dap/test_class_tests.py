"""Tests of Java, Ruby and PHP that are named without their file are found in the project that a directory is in."""

from pathlib import Path

import pytest

from trio_debugmcp.dap.profiles.language import NoSuchTest
from trio_debugmcp.dap.profiles.test_runners import with_file

CART_JAVA = """package shop;
import org.junit.jupiter.api.*;
class CartTest {
    @Test void adds() {}
    @Nested class Empty { @Test void adds() {} @Test void isFree() {} }
}
"""

CART_RUBY = """class CartTest < Minitest::Test
  def test_adds; end
  def helper; end
end
class EmptyTest < Minitest::Test
  def test_adds; end
  def test_is_free; end
end
"""

CART_PHP = """<?php
final class CartTest extends TestCase {
    public function testAdds(): void {}
    private function testHelper(): void {}
}
"""


@pytest.fixture
def java(tmp_path: Path) -> Path:
    folder = tmp_path / "src" / "test" / "java" / "shop"
    folder.mkdir(parents=True)
    (folder / "CartTest.java").write_text(CART_JAVA)
    (tmp_path / "pom.xml").touch()
    return tmp_path


@pytest.fixture
def ruby(tmp_path: Path) -> Path:
    for folder, name, text in (("test", "cart_test.rb", CART_RUBY), ("spec", "cart_spec.rb", "it 'is dear' do\nend\n")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / name).write_text(text)
    (tmp_path / "Rakefile").touch()
    return tmp_path


@pytest.mark.parametrize(
    ("test", "own"),
    [
        ("isFree", "::CartTest.Empty.isFree"),
        ("CartTest.adds", "::CartTest.adds"),
        ("shop.CartTest#adds", "::CartTest.adds"),
        ("CartTest$Empty.adds()", "::CartTest.Empty.adds"),
        ("CartTest", ""),
        ("shop.CartTest", ""),
    ],
)
def test_a_test_of_java_is_found_by_its_class_and_method(java: Path, test: str, own: str) -> None:
    assert with_file(test, str(java)) == f"{java}/src/test/java/shop/CartTest.java{own}"


@pytest.mark.parametrize(
    ("test", "named"),
    [
        ("test_is_free", "test/cart_test.rb::test_is_free"),
        ("EmptyTest#test_adds", "test/cart_test.rb::EmptyTest#test_adds"),
        ("CartTest", "test/cart_test.rb"),
        ("is dear", "spec/cart_spec.rb::is dear"),
    ],
)
def test_a_test_of_ruby_is_found_by_its_class_and_method_or_its_title(ruby: Path, test: str, named: str) -> None:
    assert with_file(test, str(ruby)) == f"{ruby}/{named}"


def test_a_test_of_php_is_found_by_its_class_and_method(tmp_path: Path) -> None:
    (tmp_path / "CartTest.php").write_text(CART_PHP)
    (tmp_path / "composer.json").touch()
    for test in ("testAdds", "CartTest::testAdds"):
        assert with_file(test, str(tmp_path)) == f"{tmp_path}/CartTest.php::CartTest::testAdds"
    assert with_file("CartTest", str(tmp_path)) == f"{tmp_path}/CartTest.php"
    with pytest.raises(NoSuchTest, match=r"no test 'testHelper' in .*; there are: testAdds"):
        with_file("testHelper", str(tmp_path))


def test_a_name_that_several_tests_have_is_refused_with_all_of_them(java: Path) -> None:
    with pytest.raises(NoSuchTest, match=r"2 tests have the name 'adds'. Pass one of: .*::CartTest.adds, .*Empty.adds"):
        with_file("adds", str(java))


def test_a_name_that_no_test_has_is_refused_with_those_like_it_unless_it_may_be_pythons(java: Path) -> None:
    with pytest.raises(NoSuchTest, match=r"no test 'isFre' in .*; there are: isFree"):
        with_file("isFre", str(java))
    (java / "test_cart.py").touch()
    assert with_file("isFre", str(java)) == "isFre"
