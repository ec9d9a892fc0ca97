"""What runs a test of each language, by its name: the program, its arguments, and how it is built."""

import re
from pathlib import Path

import pytest

from trio_debugmcp.dap.profiles import test_runners
from trio_debugmcp.dap.profiles.language import NoSuchTest
from trio_debugmcp.dap.profiles.python.finding_tests import find_test
from trio_debugmcp.dap.profiles.test_runners import cargo, class_paths
from trio_debugmcp.dap.profiles.test_runners.named_test import TestRun as Run
from trio_debugmcp.dap.profiles.test_runners.node_runners import RAISED_IN_NODE
from trio_debugmcp.dap.profiles.test_runners.phpunit import RAISED_IN_PHP
from trio_debugmcp.dap.profiles.test_runners.ruby_runners import RAISED_IN_RSPEC, RAISED_IN_RUBY

PROJECTS = Path(__file__).parents[1] / "languages" / "projects"


PATTERN = r"(?:^| )adds up \(all\)$"
"""Of a test's title behind those of its suites."""


TAP = "not ok 1 - a\n  ---\n  code: 'ERR_TEST_FAILURE'\n  name: 'TypeError'\n  stack: |-\n"
SPEC = "✖ a (0.1ms)\n  RangeError: of 3: no\n      at a.mjs:4\n"
MOCHA = "  1 failing\n\n  1) a basket\n       adds up:\n     TypeError: Cannot read: null\n      at a.mjs:5\n"
JEST = "  ● a basket adds up\n\n    TypeError: Cannot read: null\n\n      4 |\n"
MATCHER = "  ● adds up\n\n    expect(received).toBe(expected)\n\n    Expected: 6\n"
MINITEST = "  1) Error:\nTestCron#test_days:\nNoMethodError: undefined method `min' for 60:Integer\n"
TEST_UNIT = "===\nError: test_a(TestA):\n  Shop::Empty: tea: none\n"
VITEST = """ FAIL  test/cart.test.ts > a cart > is free
Error: odd

 FAIL  test/cart.test.ts > a cart > takes unknown items
TypeError: Cannot read properties of undefined (reading 'cents')
 \u276f src/cart.ts:17:75
     17|     return this.lines
 \u276f Cart.total src/cart.ts:17:23
"""

RSPEC = """
  1) Order takes all
     Failure/Error: expect(order.lines.size).to eq(1)

       expected: 1
            got: 0
     # ./spec/order_spec.rb:7:in `block (2 levels) in <top (required)>'

  2) Order totals
     Failure/Error: @table.fetch(name.to_sym)

     NoMethodError:
       undefined method `to_sym' for nil:NilClass
     # ./lib/price.rb:7:in `of'
"""

PHPUNIT = """There were 2 errors:

1) CartTest::testUnknown
Undefined array key "plum"

/shop/src/Prices.php:6

2) CartTest::testTotal
Total: of all
it is
Failed asserting that 5.0 is identical to 7.5.

/shop/tests/CartTest.php:12

3) CartTest::testStock
Shop\\OutOfStock: none of fig

/shop/src/Cart.php:8
"""

WRONG = "  1) Failure:\nTestA#test_a [a.rb:3]:\nExpected: 3\n  Actual: 4\n"


def run_of(test: str, place: Path | str = PROJECTS) -> Run:
    return test_runners.test_run(test, [str(place)])


def in_project(path: str) -> str:
    return str(PROJECTS / path)


def test_a_test_of_python_is_not_one_of_these() -> None:
    for test in (
        "tests/test_a.py::test_b",
        "tests/test_a.py::TestCart",
        "tests/test_a.py::TestCart::test_b",
        "tests/test_a.py::TestCart::TestFull::test_b[a-1]",
        "TestCart::test_b",
        "TestCart::TestFull",
        "tests.test_a::TestCart::test_b",
        "test_total",
        "tests.test_a.CartTest.test_b",
        "pkg::test_total",
        "a.py:3",
        "a.py::b[x.go::d]",
    ):
        assert not test_runners.is_own_program(test)
    for test in (
        "a_test.go::TestB",
        "./price::TestB",
        "::BenchmarkB",
        "src/lib.rs",
        "a.test.tsx:3",
        "spec/a_spec.rb:4",
        "tests/ATest.php::testB",
    ):
        assert test_runners.is_own_program(test)


@pytest.mark.parametrize(
    ("test", "target", "name"),
    [
        ("ledger/src/lib.rs::tests::a_transfer_keeps_the_sum", "--lib", "tests::a_transfer_keeps_the_sum"),
        ("ledger/src/lib.rs::a_transfer_keeps_the_sum", "--lib", "tests::a_transfer_keeps_the_sum"),
        ("ledger/src/lib.rs:24", "--lib", "tests::a_transfer_keeps_the_sum"),
        ("ledger/src/fees.rs::a_fee_is_two_percent", "--lib", "fees::tests::a_fee_is_two_percent"),
        ("ledger/src/fees.rs::fees::tests::a_fee_is_two_percent", "--lib", "fees::tests::a_fee_is_two_percent"),
        ("ledger/tests/whole.rs::it_works_from_outside", "--test", "it_works_from_outside"),
    ],
)
def test_cargo_builds_the_target_of_a_file_and_runs_the_test_by_its_whole_name(
    test: str, target: str, name: str
) -> None:
    run = run_of(test)
    assert run.build is not None
    assert run.build.command[:4] == ("cargo", "test", "--no-run", "--message-format=json")
    assert run.build.command[4] == target
    assert run.args[:2] == (name, "--exact")
    assert run.directory == run.build.directory == in_project("ledger")
    assert run.program == run.build.source


def test_all_tests_of_a_module_are_run_and_of_a_library_all() -> None:
    assert run_of("ledger/src/fees.rs").args[0] == "fees::"
    assert run_of("ledger/src/lib.rs").args[0] == "--nocapture"


def test_a_test_in_modules_within_modules_is_run_by_all_their_names(tmp_path: Path) -> None:
    (tmp_path / "Cargo.toml").touch()
    (tmp_path / "src").mkdir()
    tests = (
        "mod outer {\n    mod before { fn f() {} }\n    mod inner {\n        #[test]\n        fn works() {}\n    }\n}\n"
    )
    (tmp_path / "src" / "lib.rs").write_text(tests)
    assert run_of("src/lib.rs::works", tmp_path).args[0] == "outer::inner::works"


def test_a_test_of_rust_is_found_by_its_name_alone_in_its_crate_with_as_many_modules_as_are_given(
    tmp_path: Path,
) -> None:
    ledger = in_project("ledger")
    fee = f"{ledger}/src/fees.rs"
    for name in ("a_fee_is_two_percent", "tests::a_fee_is_two_percent", "fees::tests::a_fee_is_two_percent"):
        assert test_runners.with_file(name, ledger) == f"{fee}::{name}"
        assert run_of(f"{fee}::{name}").args[0] == "fees::tests::a_fee_is_two_percent"
    whole = test_runners.with_file("it_works_from_outside", ledger)
    assert whole == f"{ledger}/tests/whole.rs::it_works_from_outside"
    assert test_runners.with_file("a_fee_is_two_percent", str(tmp_path)) == "a_fee_is_two_percent", "no Cargo.toml"
    with pytest.raises(NoSuchTest, match=r"There is no test 'a_fee' in .*; there are: .*fees::tests::a_fee_is_two"):
        test_runners.with_file("a_fee", ledger)
    (tmp_path / "Cargo.toml").touch()
    (tmp_path / "src").mkdir()
    for file in ("lib.rs", "cart.rs"):
        (tmp_path / "src" / file).write_text("#[test]\nfn adds() {}\n")
    with pytest.raises(NoSuchTest, match=rf"Several files have 'adds'\. Pass one of: {tmp_path}/src/cart\.rs::adds, "):
        test_runners.with_file("adds", str(tmp_path))
    for file in ("test_class.py", "class_test.py"):
        (tmp_path / file).write_text("class TestNope: ...\n")
        assert test_runners.with_file("test_nope", str(tmp_path)) == "test_nope", "it may be one of Python's"
        (tmp_path / file).unlink()
    (tmp_path / "contest.py").touch()
    for folder in ("target", "node_modules", ".venv"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "test_others.py").touch()
        (tmp_path / folder / "others.rs").write_text("#[test]\nfn test_nope() {}\n")
    with pytest.raises(NoSuchTest, match=r"There is no test 'test_nope' in "):
        test_runners.with_file("test_nope", str(tmp_path))


def test_a_test_of_javascript_is_found_by_its_title_alone_or_those_like_it_are_named(tmp_path: Path) -> None:
    one, two, helper = tmp_path / "src" / "pay.test.ts", tmp_path / "test" / "cart.mjs", tmp_path / "src" / "help.ts"
    for file, text in (
        (one, "describe('till', () => { it('pays ann', () => {}) })\n"),
        (two, 'test("adds up", () => {});\ntest("is empty", () => {});\n'),
        (helper, "test('is no test', () => {});\n"),
        (tmp_path / "node_modules" / "x" / "x.test.js", "test('of others', () => {});\n"),
    ):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    assert test_runners.with_file("adds up", str(tmp_path)) == "adds up", "no package.json"
    (tmp_path / "package.json").write_text("{}")
    assert test_runners.with_file("adds up", str(tmp_path)) == f"{two}::adds up"
    assert test_runners.with_file("till > pays ann", str(tmp_path)) == f"{one}::till > pays ann"
    for name in ("pays", "is no test", "of others"):
        with pytest.raises(NoSuchTest, match=rf"There is no test '{name}' in .*; there are: "):
            test_runners.with_file(name, str(tmp_path))
    helper.with_name("till.spec.js").write_text("it('is empty', () => {});\n")
    with pytest.raises(NoSuchTest, match=r"Several files have 'is empty'\. Pass one of: "):
        test_runners.with_file("is empty", str(tmp_path))
    (tmp_path / "test_pay.py").touch()
    assert test_runners.with_file("pays", str(tmp_path)) == "pays", "it may be one of Python's"


def test_a_name_is_not_refused_where_the_project_has_more_directories_than_are_looked_through(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cargo, "_MAX_DIRECTORIES", 3)
    (tmp_path / "Cargo.toml").touch()
    for name in ("a", "b"):
        with pytest.raises(NoSuchTest, match=r"There is no test 'adds' in "):
            test_runners.with_file("adds", str(tmp_path))
        (tmp_path / name).mkdir()
    assert test_runners.with_file("adds", str(tmp_path)) == "adds"


def test_a_binary_and_what_lies_beside_it_are_targets_of_their_own(tmp_path: Path) -> None:
    (tmp_path / "Cargo.toml").touch()
    for file in ("src/main.rs", "src/bin/tool.rs", "src/bin/big/main.rs", "src/price/mod.rs", "tests/all/deep.rs"):
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text("#[test]\nfn works() {}\n")

    def target(file: str) -> tuple[tuple[str, ...], str, str]:
        run = run_of(f"{file}::works", tmp_path)
        assert run.build is not None
        return run.build.command[4:], str(Path(run.program).relative_to(tmp_path)), run.args[0]

    assert target("src/main.rs") == (("--bins",), "src/main.rs", "works")
    assert target("src/price/mod.rs") == (("--bins",), "src/main.rs", "price::works")
    assert target("src/bin/tool.rs") == (("--bin", "tool"), "src/bin/tool.rs", "works")
    assert target("src/bin/big/main.rs") == (("--bin", "big"), "src/bin/big/main.rs", "works")
    assert target("tests/all/deep.rs") == (("--test", "all"), "tests/all/main.rs", "deep::works")


@pytest.mark.parametrize(
    ("test", "args"),
    [
        ("till/price/price_test.go::TestTotal", ("-test.run", "^TestTotal$")),
        ("till/price/price_test.go::TestOne/a few", ("-test.run", "^TestOne$/^a_few$")),
        ("till/price/price_test.go::TestOne/a+b", ("-test.run", r"^TestOne$/^a\+b$")),
        ("./till/price::TestTotal", ("-test.run", "^TestTotal$")),
        ("till/price/price_test.go::BenchmarkTotal", ("-test.run", "^$", "-test.bench", "^BenchmarkTotal$")),
        ("till/price/price_test.go:9", ("-test.run", "^TestTotal$")),
        ("till/price/price_test.go", ()),
    ],
)
def test_go_runs_a_test_of_a_package_in_its_directory(test: str, args: tuple[str, ...]) -> None:
    assert run_of(test) == Run(
        in_project("till/price/price_test.go"),
        (*args, "-test.v"),
        in_project("till/price"),
        ran_none="no tests to run",
        fails_with=("test failure",),
    )


def test_a_test_of_go_is_found_by_its_name_alone_below_its_module(tmp_path: Path) -> None:
    till = in_project("till")
    assert test_runners.with_file("TestTotal/empty", till) == f"{till}/price/price_test.go::TestTotal/empty"
    assert test_runners.with_file("TestTotal", str(tmp_path)) == "TestTotal", "there is no go.mod"
    assert test_runners.with_file("test_total", till) == "test_total", "a name of Python's"
    (tmp_path / "go.mod").touch()
    for package in ("a", "b", "vendor/c"):
        (tmp_path / package).mkdir(parents=True)
        (tmp_path / package / "x_test.go").write_text("func TestOne(t *testing.T) {}\n")
    with pytest.raises(NoSuchTest, match=rf"Pass one of: {tmp_path}/a/x_test.go::TestOne, {tmp_path}/b/x_test.go::"):
        test_runners.with_file("TestOne", str(tmp_path))


def test_a_name_that_no_test_of_a_go_project_has_is_refused_with_the_names_that_there_are(tmp_path: Path) -> None:
    (tmp_path / "go.mod").write_text("module example.org/till\n")
    (tmp_path / "price_test.go").write_text("func TestTotal(t *testing.T) {}\n")
    with pytest.raises(NoSuchTest, match=r"There is no test 'TestNope' in .*; there are: TestTotal\."):
        test_runners.with_file("TestNope", str(tmp_path))
    (tmp_path / "test_class.py").write_text("class TestNope: ...\n")
    assert test_runners.with_file("TestNope", str(tmp_path)) == "TestNope", "it may be a class of Python's"


@pytest.mark.parametrize(
    ("file", "example"),
    [("go.mod", "price_test.go::TestTotal"), ("Cargo.toml", "src/lib.rs::tests::adds"), ("tox.ini", "test_a.py::")],
)
def test_a_name_that_leads_to_no_test_is_refused_with_an_example_of_the_projects_language(
    tmp_path: Path, file: str, example: str
) -> None:
    (tmp_path / file).touch()
    (tmp_path / "inner").mkdir()
    with pytest.raises(NoSuchTest, match=example):
        find_test("adds", [str(tmp_path / "inner")])


def test_ruby_runs_a_method_of_a_class_with_the_projects_own_directories_on_its_path() -> None:
    run = run_of("shelf/test/shelf_test.rb::ShelfTest#test_counts_add_up")
    assert run.args == ("-n", "ShelfTest#test_counts_add_up")
    assert run.env == {"RUBYLIB": f"{in_project('shelf/lib')}:{in_project('shelf/test')}"}
    assert run_of("shelf/test/shelf_test.rb:9").args == ("-n", "test_counts_add_up")
    assert run_of("shelf/test/shelf_test.rb").args == ()


def test_a_title_of_ruby_is_found_in_the_method_that_it_becomes(tmp_path: Path) -> None:
    (tmp_path / "a_test.rb").write_text('describe "A" do\n  it "adds (all) up" do\n  end\nend\n')
    assert run_of("a_test.rb::adds (all) up", tmp_path).args == ("-n", r"/adds[ _]\(all\)[ _]up/")


def test_rspec_is_run_by_the_line_or_the_title(tmp_path: Path) -> None:
    (tmp_path / "Gemfile").touch()
    for file in ("bin/rspec", "spec/a_spec.rb"):
        (tmp_path / file).parent.mkdir()
        (tmp_path / file).write_text('it "adds up" do\nend\n')
    run = run_of("spec/a_spec.rb:4", tmp_path)
    assert (run.program, run.args) == (f"{tmp_path}/bin/rspec", (f"{tmp_path}/spec/a_spec.rb:4",))
    assert run_of("spec/a_spec.rb::adds up", tmp_path).args[1:] == ("-e", "adds up")


SPECS = """RSpec.describe Trunk, type: :model do
  context "when full" do
    it "refuses a hat" do
    end
  end

  describe "#total" do
    specify('adds up') { expect(1).to eq(1) }
  end
end
"""


def test_a_description_that_no_example_of_rspec_has_is_refused_with_those_like_it(tmp_path: Path) -> None:
    for file, text in (("bin/rspec", ""), ("Gemfile", ""), ("a_spec.rb", SPECS)):
        (tmp_path / file).parent.mkdir(exist_ok=True)
        (tmp_path / file).write_text(text)
    for name in ("refuses a hat", "Trunk when full", "Trunk#total adds up", "full refuses", "when full"):
        assert run_of(f"a_spec.rb::{name}", tmp_path).args[1:] == ("-e", name)
    for name in ("refuses a hut", "when full adds"):
        with pytest.raises(NoSuchTest, match=f"There is no test '{name}' in .*; there are: .*"):
            run_of(f"a_spec.rb::{name}", tmp_path)


@pytest.mark.parametrize(
    "made",
    [
        *('it "adds #{n}" do', "it { is_expected.to be }", 'it_behaves_like "a box"', 'describe Trunk, "new" do'),
        *('it "adds " \\', "its(:size) { should eq 1 }", "it title do"),
    ],
)
def test_descriptions_that_are_made_as_a_program_runs_refuse_no_name(made: str, tmp_path: Path) -> None:
    for file, text in (("bin/rspec", ""), ("Gemfile", ""), ("a_spec.rb", f"{SPECS}\n{made}\nend\n")):
        (tmp_path / file).parent.mkdir(exist_ok=True)
        (tmp_path / file).write_text(text)
    assert run_of("a_spec.rb::adds 3", tmp_path).args[1:] == ("-e", "adds 3")


PHP_TESTS = """<?php
final class ShelfTest extends TestCase
{
    public function setUp(): void
    {
    }

    public function testSums(): void
    {
        $this->assertSame(26, $this->total());
    }

    /** It has
     * @test */
    public function itIsEmpty(): void
    {
    }

    #[Test]
    #[DataProvider("rows")]
    final public function adds(int $sum): void
    {
    }

    private function total(): int
    {
    }
}
"""


@pytest.mark.parametrize(
    ("test", "filter_of_it"),
    [
        ("tests/ShelfTest.php::testSums", ("--filter", "/::testSums( .*)?$/")),
        ("tests/ShelfTest.php::ShelfTest::itIsEmpty", ("--filter", "/::itIsEmpty( .*)?$/")),
        ("tests/ShelfTest.php:10", ("--filter", "/::testSums( .*)?$/")),
        ("tests/ShelfTest.php::adds with data set #1", ("--filter", r"/::adds with\ data\ set\ \#1$/")),
        ("tests/ShelfTest.php::adds with a/b", ("--filter", r"/::adds with\ a\/b$/")),
        ("tests/ShelfTest.php", ()),
    ],
)
def test_phpunit_of_the_project_runs_a_method_with_all_its_data_or_one_of_it(
    test: str, filter_of_it: tuple[str, ...], tmp_path: Path
) -> None:
    for name, text in (("tests/ShelfTest.php", PHP_TESTS), ("vendor/bin/phpunit", ""), ("phpunit.xml", "")):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    run = run_of(test, tmp_path)
    assert (run.program, run.directory) == (f"{tmp_path}/vendor/bin/phpunit", str(tmp_path))
    assert run.args == (*filter_of_it, f"{tmp_path}/tests/ShelfTest.php")
    for name in ("setUp", "total", "testSum"):
        with pytest.raises(NoSuchTest, match="there are: "):
            run_of(f"tests/ShelfTest.php::{name}", tmp_path)


def test_phpunit_that_is_not_there_is_refused_with_the_command_that_gets_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "ShelfTest.php").write_text(PHP_TESTS)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(NoSuchTest, match="composer require --dev phpunit/phpunit"):
        run_of("ShelfTest.php", tmp_path)


def test_a_file_of_perl_runs_as_a_whole_with_its_lib() -> None:
    run = run_of("stock/t/stock.t")
    assert (run.directory, run.env) == (in_project("stock"), {"PERL5LIB": in_project("stock/lib")})
    with pytest.raises(NoSuchTest, match="are run by the file"):
        run_of("stock/t/stock.t::counts add up")


def test_node_runs_what_imports_its_own_runner() -> None:
    run = run_of("web/test/sum.test.mjs::a basket > is cheap")
    assert (run.program, run.args, run.directory) == (in_project("web/test/sum.test.mjs"), (), in_project("web"))
    assert run.options["runtimeArgs"] == ["--test-name-pattern=(?:^| )is cheap$"]
    assert "runtimeArgs" not in run_of("web/test/sum.test.mjs").options


@pytest.mark.parametrize(
    ("runner", "args", "below"),
    [
        ("vitest", ("run", "--no-file-parallelism", "--test-timeout=0", "-t", PATTERN), True),
        (
            "jest",
            ("--runInBand", "--testTimeout=2147483647", "-t", r"(?:^| )adds up \(all\)$", "--runTestsByPath"),
            False,
        ),
        ("mocha", ("--no-parallel", "--timeout", "0", "--grep", PATTERN), False),
    ],
)
def test_a_runner_of_npm_is_run_by_its_script(tmp_path: Path, runner: str, args: tuple[str, ...], below: bool) -> None:
    for name in ("vitest", "jest", "mocha"):
        script = tmp_path / "node_modules" / ".bin" / name
        script.parent.mkdir(parents=True, exist_ok=True)
        script.touch()
    package = tmp_path / "packages" / "web"
    package.mkdir(parents=True)
    (package / "package.json").write_text(f'{{"scripts": {{"test": "{runner}"}}}}')
    file = package / "a.test.ts"
    file.write_text("it.only('adds up (all)', () => {});\n")
    run = run_of("a.test.ts::adds up (all)", package)
    assert (run.program, run.args) == (str(script.with_name(runner)), (*args, str(file)))
    assert (run.directory, run.fails_below, "NO_COLOR" in run.env) == (str(package), below, below)


def test_the_runner_that_a_file_imports_comes_before_that_of_its_project(tmp_path: Path) -> None:
    for name in ("vitest", "jest"):
        script = tmp_path / "node_modules" / ".bin" / name
        script.parent.mkdir(parents=True, exist_ok=True)
        script.touch()
    (tmp_path / "package.json").write_text('{"scripts": {"test": "jest"}}')
    (tmp_path / "a.test.ts").write_text('import { it } from "vitest";\nit("adds", () => {});\n')
    assert run_of("a.test.ts", tmp_path).program == str(script.with_name("vitest"))


def test_a_title_that_the_program_makes_is_not_looked_for(tmp_path: Path) -> None:
    (tmp_path / "a.test.mjs").write_text(
        'import { test } from "node:test";\nfor (const n of [1]) test(`adds ${n}`, f);\n'
    )
    assert run_of("a.test.mjs::adds 1", tmp_path).options["runtimeArgs"] == ["--test-name-pattern=(?:^| )adds 1$"]


@pytest.mark.parametrize(
    ("test", "says"),
    [
        ("ledger/src/lib.rs::a_transfer", "a_transfer_keeps_the_sum"),
        ("ledger/src/lib.rs:2", "No test begins at line 2"),
        ("ledger/src/nope.rs::a", "There is no file 'ledger/src/nope.rs'"),
        ("stock/t/stok.t", f"There is no file 'stock/t/stok.t' in {PROJECTS}; there are: stock.t."),
        ("till/price/price_test.go::TestTota", "there are: TestTotal"),
        ("till::TestTotal", "no test was found there"),
        ("shelf/test/shelf_test.rb::test_nope", "there are: test_empty, test_counts_add_up"),
        ("web/test/sum.test.mjs::adds", "there are: adds up, and 3 more"),
        ("web-jest/sum.test.js::adds up", "Install one"),
        ("depot/tests/stock_test.cpp::CountsAdd", "there are: Stock.CountsAddUp"),
        ("depot/tests/stock_test.cpp", "are not built. Build them with: cmake -S "),
        ("shed/tests/shed_test.cpp::counts", "there are: counts add up"),
        ("barn/src/test/java/barn/ShelfTest.java::counts", "there are: countsAddUp, and 2 more"),
        ("barn/src/test/java/barn/ShelfTest.java:3", "No test begins at line 3"),
    ],
)
def test_what_is_not_there_or_has_no_runner_is_refused_with_what_to_do(test: str, says: str) -> None:
    with pytest.raises(NoSuchTest) as refused:
        run_of(test)
    assert says in str(refused.value)


def built_project(directory: Path) -> Path:
    """A project as CMake has configured and built it: `tests/a_test.cpp` in the program `a_tests`."""
    build = directory / "build" / "debug"
    for folder in (directory / "tests", build / "tests"):
        folder.mkdir(parents=True)
    (directory / "CMakeLists.txt").touch()
    (directory / "tests" / "CMakeLists.txt").touch()
    (build / "CMakeCache.txt").write_text(f"CMAKE_HOME_DIRECTORY:INTERNAL={directory}\n")
    (build / "CTestTestfile.cmake").write_text('# include("gone.cmake")\nsubdirs("tests")\n')
    (build / "tests" / "CTestTestfile.cmake").write_text(f'''include("{build}/tests/a_include.cmake")
add_test([=[other "one"]=] "{build}/tests/other" "--all" [==[a]b]==])
set_tests_properties([=[other "one"]=] PROPERTIES  WORKING_DIRECTORY "{directory}")
add_test(b_NOT_BUILT b_NOT_BUILT)
''')
    (build / "tests" / "a_include.cmake").write_text(f"add_test([=[Stock.Takes]=]  {build}/tests/a_tests --one)\n")
    (build / "tests" / "a_tests").write_bytes(b"\x7fELF\0/src/tests/a_test.cpp\0")
    (build / "tests" / "other").write_bytes(b"\x7fELF\0../tests/other.cpp\0")
    return build / "tests" / "a_tests"


GTEST = """#include <gtest/gtest.h>
TEST(Stock, Takes) {}
TEST_P(Prices, Add) {
}
TYPED_TEST(Typed, Works) {}
TEST_F(Stock, DISABLED_Slow) {}
"""


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("::Stock.Takes", ("--gtest_filter=Stock.Takes",)),
        ("::Takes", ("--gtest_filter=Stock.Takes",)),
        (":4", ("--gtest_filter=Prices.Add:*/Prices.Add/*",)),
        ("::Typed.Works", ("--gtest_filter=Typed/*.Works",)),
        ("::Few/Prices.Add/0", ("--gtest_filter=Few/Prices.Add/0",)),
        ("::Slow", None),
        ("::Stock.DISABLED_Slow", ("--gtest_filter=Stock.DISABLED_Slow", "--gtest_also_run_disabled_tests")),
        ("", ("--gtest_filter=Stock.Takes:Prices.Add:*/Prices.Add/*:Typed/*.Works:Stock.DISABLED_Slow",)),
    ],
)
def test_gtest_runs_a_test_by_its_suite_and_for_each_of_its_values(
    tmp_path: Path, name: str, args: tuple[str, ...] | None
) -> None:
    program = built_project(tmp_path)
    (tmp_path / "tests" / "a_test.cpp").write_text(GTEST)
    if args is None:
        with pytest.raises(NoSuchTest, match=r"Stock\.DISABLED_Slow"):
            run_of(f"tests/a_test.cpp{name}", tmp_path)
        return
    run = run_of(f"tests/a_test.cpp{name}", tmp_path)
    assert (run.program, run.args, run.directory) == (str(program), args, str(program.parent))
    assert run.breaks == ("--gtest_break_on_failure", "--gtest_catch_exceptions=0")
    assert run.build is not None
    assert (run.build.command, run.build.program) == (
        ("cmake", "--build", str(program.parents[1])),
        str(program),
    )


CATCH = r"""#include <catch2/catch_test_macros.hpp>
TEST_CASE("adds, up", "[a]") {
  SECTION("twice") { AND_WHEN("again") {} }
}
TEST_CASE_METHOD(Fixture, "of a class") {
}
SCENARIO("pays") {}
TEMPLATE_TEST_CASE("of types", "[b]", int, char) {}
"""


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("::adds, up", (r"adds\, up",)),
        ("::adds, up > twice > again", (r"adds\, up", "-c", "twice", "-c", "again")),
        ("::adds, up > And when: again", (r"adds\, up", "-c", "And when: again")),
        (":6", ("of a class",)),
        ("::pays", ("Scenario: pays",)),
        ("::of types", ("of types - *",)),
        ("::of types - int", ("of types - int",)),
    ],
)
def test_catch2_runs_a_case_by_its_title_and_sections_in_it(tmp_path: Path, name: str, args: tuple[str, ...]) -> None:
    program = built_project(tmp_path)
    (tmp_path / "tests" / "a_test.cpp").write_text(CATCH)
    run = run_of(f"tests/a_test.cpp{name}", tmp_path)
    assert (run.program, run.args, run.breaks) == (str(program), args, ("--break",))


def test_a_program_that_is_a_test_itself_runs_as_ctest_runs_it(tmp_path: Path) -> None:
    program = built_project(tmp_path).with_name("other")
    (tmp_path / "tests" / "other.cpp").write_text("int main() {}\n")
    for test in ("tests/other.cpp", 'tests/other.cpp::other "one"'):
        run = run_of(test, tmp_path)
        assert (run.program, run.args, run.directory) == (str(program), ("--all", "a]b"), str(tmp_path))


def test_a_file_that_is_compiled_into_no_test_is_refused_with_the_tests_that_there_are(tmp_path: Path) -> None:
    built_project(tmp_path)
    (tmp_path / "tests" / "new.cpp").write_text(GTEST)
    with pytest.raises(NoSuchTest, match=r"none of the programs that CTest knows: a_tests, other\."):
        run_of("tests/new.cpp", tmp_path)
    (tmp_path / "build" / "debug" / "tests" / "a_tests").unlink()
    (tmp_path / "build" / "debug" / "tests" / "other").unlink()
    with pytest.raises(NoSuchTest, match=rf"are not built. Build them with: cmake --build {tmp_path}/build/debug"):
        run_of("tests/new.cpp", tmp_path)


def repository(directory: Path, **artifacts: str) -> None:
    """A repository as Maven has it: of each name its jars, `group:version`, behind `<` what that depends on."""
    for keyword, described in artifacts.items():
        name = keyword.replace("_", "-")
        coordinates, _, needs = described.partition(" < ")
        group, version = coordinates.split(":")
        place = directory / group.replace(".", "/") / name / version
        place.mkdir(parents=True)
        (place / f"{name}-{version}.jar").touch()
        (place / f"{name}-{version}.pom").write_text(f"<project>{depends(needs)}</project>")


def depends(*needs: str) -> str:
    """Dependencies as a pom has them: `group:name:version`, `@scope` behind it."""
    found = []
    for need in filter(None, needs):
        coordinates, _, scope = need.partition("@")
        group, name, version = coordinates.split(":")
        inner = f"<groupId>{group}</groupId><artifactId>{name}</artifactId>"
        inner += f"<version>{version}</version>" if version else ""
        found.append(f"<dependency>{inner}<scope>{scope or 'compile'}</scope></dependency>")
    return f"<dependencies>{''.join(found)}</dependencies>"


@pytest.fixture
def java_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with libraries of JUnit in Maven's repository, and nothing of the system's."""
    for name in ("CLASSPATH", "GRADLE_USER_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(class_paths, "_SYSTEM", tmp_path / "none")
    monkeypatch.setenv("MAVEN_REPO_LOCAL", str(tmp_path / "m2"))
    repository(
        tmp_path / "m2",
        junit="junit:4.13.2 < org.hamcrest:hamcrest-core:1.3",
        hamcrest_core="org.hamcrest:1.3",
        junit_jupiter_api="org.junit.jupiter:5.9.2",
        junit_jupiter_engine="org.junit.jupiter:5.9.2 < org.junit.platform:junit-platform-engine:1.9.2",
        junit_platform_engine="org.junit.platform:1.9.2",
        junit_platform_launcher="org.junit.platform:1.9.2",
        guava="com.google:31.1 < com.google:failures:1.0@provided",
    )
    repository(tmp_path / "m2", junit_jupiter_engine="org.junit.jupiter:6.0.0")
    return tmp_path


def java_test(directory: Path, text: str = "import org.junit.jupiter.api.Test;") -> str:
    (directory / "src" / "test" / "java" / "shop").mkdir(parents=True)
    (directory / "src" / "main" / "java").mkdir(parents=True)
    file = directory / "src" / "test" / "java" / "shop" / "ShopTest.java"
    file.write_text(
        f"package shop;\n{text}\nclass ShopTest {{\n  @Test\n  void pays() {{}}\n"
        "  @Test void of(final String name, int[] n) {}\n}\n"
    )
    return str(file)


def jar_names(run: Run) -> list[str]:
    return [Path(place).name for place in run.env["CLASSPATH"].split(":")]


def test_a_test_of_maven_gets_the_launcher_of_its_engines_version(java_home: Path) -> None:
    file = java_test(java_home)
    needs = depends("org.junit.jupiter:junit-jupiter-api:${jupiter}@test", "com.google:guava:@compile")
    (java_home / "pom.xml").write_text(
        f"<project><properties><jupiter>5.9.2</jupiter></properties>{needs}<!-- <dependency> --></project>"
    )
    run = run_of(f"{file}::ShopTest#pays")
    assert jar_names(run) == [
        *("junit-jupiter-api-5.9.2.jar", "guava-31.1.jar", "junit-jupiter-engine-5.9.2.jar"),
        *("junit-platform-engine-1.9.2.jar", "junit-platform-launcher-1.9.2.jar"),
    ]
    assert (run.args, run.options, run.directory) == (
        ("shop.ShopTest#pays()",),
        {"mainClass": "RunJUnit5"},
        str(java_home),
    )
    assert run_of(f"{file}::of").args == ("shop.ShopTest#of(java.lang.String,int[])",)
    assert run_of(file).args == ("shop.ShopTest",)
    assert run.build is not None
    roots = f"{java_home}/src/test/java:{java_home}/src/main/java"
    assert roots in run.build.command[run.build.command.index("-sourcepath") + 1]


def test_a_launcher_of_another_version_is_refused_with_the_one_that_fits(java_home: Path) -> None:
    file = java_test(java_home)
    (java_home / "lib").mkdir()
    for name in ("junit-jupiter-api-5.8.0.jar", "junit-jupiter-engine-5.8.0.jar", "junit-platform-engine-1.8.0.jar"):
        (java_home / "lib" / name).touch()
    (java_home / "build.gradle").touch()
    with pytest.raises(NoSuchTest, match=r"dependency:get -Dartifact=org.junit.platform:junit-platform-launcher:1.8.0"):
        run_of(file)


def test_a_test_of_gradle_is_run_with_what_gradle_has_fetched(java_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRADLE_USER_HOME", str(java_home / "gradle"))
    place = java_home / "gradle/caches/modules-2/files-2.1/com.shop/till/2.0"
    (place / "a1b2").mkdir(parents=True)
    (place / "a1b2" / "till-2.0.jar").touch()
    file = java_test(java_home, "import org.junit.Test;")
    (java_home / "build.gradle.kts").write_text(
        'dependencies { implementation("com.shop:till:2.0"); testImplementation("junit:junit:4.13.2") }\n'
    )
    run = run_of(f"{file}:5")
    assert jar_names(run) == ["till-2.0.jar", "junit-4.13.2.jar", "hamcrest-core-1.3.jar"]
    assert (run.args, run.options) == (("shop.ShopTest", "pays"), {"mainClass": "RunJUnit4"})


def test_the_class_path_with_which_maven_has_run_the_tests_counts(java_home: Path) -> None:
    file = java_test(java_home, "import org.junit.Test;")
    (java_home / "pom.xml").write_text("<project></project>")
    reports = java_home / "target" / "surefire-reports"
    reports.mkdir(parents=True)
    jar = java_home / "m2" / "junit" / "junit" / "4.13.2" / "junit-4.13.2.jar"
    report = f'<property name="surefire.test.class.path" value="{java_home}/gone.jar:{jar}"/>'
    (reports / "TEST-shop.ShopTest.xml").write_text(report)
    assert jar_names(run_of(file))[0] == "junit-4.13.2.jar"


def test_a_test_without_junit_is_refused_with_the_command_that_gets_it(
    java_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MAVEN_REPO_LOCAL", str(java_home / "empty"))
    with pytest.raises(NoSuchTest, match=r"Get it with: mvn dependency:get -Dartifact=org\.junit\.jupiter:"):
        run_of(java_test(java_home / "five"))
    with pytest.raises(NoSuchTest, match=r"mvn dependency:get -Dartifact=junit:junit:4"):
        run_of(java_test(java_home / "four", "import org.junit.Test;"))


# --- Tests of one name ------------------------------------------------------------------------------------------------

ALIKE = {
    "lib.rs": """mod add {
    #[test]
    fn works() {}
}
mod sub {
    #[test]
    fn works() {}
}
""",
    "a_test.cpp": "#include <gtest/gtest.h>\nTEST(Alpha, Works) {\n}\nTEST(Beta, Works) {\n}\n",
    "a.test.ts": """import { describe, it } from "vitest";
describe("alpha", () => {
  it("works", () => {});
});
describe("beta", () => {
  describe("inner", () => {
    it("works", () => {});
  });
});
""",
    "a_test.rb": """class Alpha < Minitest::Test
  def test_works
  end
end
class Beta < Minitest::Test
  def test_works
  end
end
""",
}


@pytest.mark.parametrize(
    ("test", "args"),
    [
        ("lib.rs:3", ("add::works", "--exact")),
        ("lib.rs:7", ("sub::works", "--exact")),
        ("lib.rs::sub::works", ("sub::works", "--exact")),
        ("lib.rs::works", ("add::works", "sub::works", "--exact")),
        ("a_test.cpp:3", ("--gtest_filter=Alpha.Works",)),
        ("a_test.cpp:5", ("--gtest_filter=Beta.Works",)),
        ("a_test.cpp::Works", ("--gtest_filter=Alpha.Works:Beta.Works",)),
        ("a.test.ts:3", ("-t", "(?:^| )alpha works$")),
        ("a.test.ts:7", ("-t", "(?:^| )beta inner works$")),
        ("a.test.ts::beta > inner > works", ("-t", "(?:^| )beta inner works$")),
        ("a.test.ts::works", ("-t", "(?:^| )works$")),
        ("a_test.rb:3", ("-n", "Alpha#test_works")),
        ("a_test.rb:6", ("-n", "Beta#test_works")),
        ("a_test.rb::test_works", ("-n", "test_works")),
    ],
)
def test_of_tests_of_one_name_that_of_the_line_runs_and_a_name_means_all(
    test: str, args: tuple[str, ...], tmp_path: Path
) -> None:
    built_project(tmp_path)
    (tmp_path / "Cargo.toml").touch()
    script = tmp_path / "node_modules" / ".bin" / "vitest"
    script.parent.mkdir(parents=True)
    script.touch()
    (tmp_path / "src").mkdir()
    for name, text in ALIKE.items():
        (tmp_path / {"rs": "src", "cpp": "tests"}.get(name.partition(".")[2], ".") / name).write_text(text)
    place = {"lib": "src/", "a_test.c": "tests/"}.get(test[:3] if test.startswith("lib") else test[:8], "")
    run = run_of(f"{place}{test}", tmp_path)
    begin = run.args.index(args[0])
    assert run.args[begin : begin + len(args)] == args


def test_a_method_of_an_inner_class_of_java_is_not_that_of_the_outer(java_home: Path) -> None:
    (java_home / "pom.xml").write_text(
        f"<project>{depends('org.junit.jupiter:junit-jupiter-api:5.9.2@test')}</project>"
    )
    file = java_test(java_home)
    Path(file).write_text("""package shop;  /** The record of a class under test. */
import org.junit.jupiter.api.Test;
class ShopTest {  // the class under test is { Shop
  @Test void works() {}
  @Nested class Inner {
    @Test void works(String word) { use("} class of", '}'); }
    @Test void only() {}
  }
}
""")
    outer, inner = "shop.ShopTest#works()", "shop.ShopTest$Inner#works(java.lang.String)"
    assert run_of(f"{file}:4").args == run_of(f"{file}::ShopTest.works").args == (outer,)
    assert run_of(f"{file}:6").args == run_of(f"{file}::Inner.works").args == (inner,)
    assert run_of(f"{file}::ShopTest$Inner#works").args == (inner,)
    assert run_of(f"{file}::only").args == ("shop.ShopTest$Inner#only()",)
    assert run_of(f"{file}::Inner").args == ("shop.ShopTest$Inner",)
    with pytest.raises(
        NoSuchTest, match=r"2 tests of .* have that name. Pass one of: ShopTest\.works, ShopTest\.Inner\.works"
    ):
        run_of(f"{file}::works")


def test_a_section_that_is_not_there_is_refused_as_the_case_would_pass(tmp_path: Path) -> None:
    built_project(tmp_path)
    (tmp_path / "tests" / "a_test.cpp").write_text(CATCH)
    with pytest.raises(NoSuchTest, match=r"no test 'twise' in 'adds, up' of .*; there are: twice"):
        run_of("tests/a_test.cpp::adds, up > twise", tmp_path)


@pytest.mark.parametrize(
    ("package", "runner", "instead"),
    [
        ("org.scalatest.funsuite.AnyFunSuite", "ScalaTest", "org.scalatest.tools.Runner"),
        ("munit.FunSuite", "munit", "JUnitCore"),
        ("io.kotest.core.spec.style.StringSpec", "Kotest", "ConsoleLauncher"),
    ],
)
@pytest.mark.parametrize("suffix", [".kt", ".scala"])
def test_a_test_of_another_runner_of_the_jvm_is_refused_with_what_launches_it(
    tmp_path: Path, suffix: str, package: str, runner: str, instead: str
) -> None:
    (tmp_path / f"ShelfTest{suffix}").write_text(f"package shop\nimport {package}\n")
    assert test_runners.is_own_program(f"ShelfTest{suffix}::adds up")
    with pytest.raises(NoSuchTest, match=f"is of {runner}, .*{instead}"):
        run_of(f"ShelfTest{suffix}::adds up", tmp_path)


KOTLIN = """package shop // of all

import org.junit.jupiter.api.Test

class ShelfTest {
    @Test fun `adds up. twice`() {}

    @ParameterizedTest
    @ValueSource(ints = [1])
    internal fun each(price: Int, name: String) {}

    @Nested inner class Empty {
        @Test fun works() {}
    }
}
"""


@pytest.mark.parametrize(
    ("name", "selected"),
    [
        ("::adds up. twice", "shop.ShelfTest#adds up. twice()"),
        ("::`adds up. twice`", "shop.ShelfTest#adds up. twice()"),
        ("::ShelfTest.each", "shop.ShelfTest#each(int,java.lang.String)"),
        (":10", "shop.ShelfTest#each(int,java.lang.String)"),
        ("::Empty#works", "shop.ShelfTest$Empty#works()"),
        ("::Empty", "shop.ShelfTest$Empty"),
        ("", "shop.ShelfTest"),
    ],
)
def test_a_test_of_kotlin_is_selected_by_its_class_and_its_types(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, selected: str
) -> None:
    home = jars_of_five(tmp_path, monkeypatch)
    (home / "shelves.kt").write_text(KOTLIN)
    run = run_of(f"shelves.kt{name}", home)
    assert run.args == (selected,)
    assert run.build is not None
    compiler, javac = run.build.commands_for("/out")
    assert (compiler[0], compiler[-1], "-cp" in compiler) == ("kotlinc", f"{home}/shelves.kt", True)
    assert (javac[0], javac[-1].endswith("RunJUnit5.java")) == ("javac", True)
    assert javac[javac.index("-cp") + 1].startswith("/out:")


def test_a_test_of_kotlin_that_is_not_there_is_refused_with_those_that_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = jars_of_five(tmp_path, monkeypatch)
    (home / "shelves.kt").write_text(KOTLIN + "class Other { @Test fun works() {} }\n")
    with pytest.raises(NoSuchTest, match=r"2 tests .* Pass one of: ShelfTest\.Empty\.works, Other\.works"):
        run_of("shelves.kt::works", home)
    with pytest.raises(NoSuchTest, match=r"several classes with tests. Pass one of: ShelfTest, Other"):
        run_of("shelves.kt", home)
    with pytest.raises(NoSuchTest, match=r"no test 'eech' in .*each"):
        run_of("shelves.kt::eech", home)


def jars_of_five(directory: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The directory of a project that has jars called like those of JUnit 5."""
    monkeypatch.setenv("CLASSPATH", "")
    for name in ("junit-jupiter-api", "junit-jupiter-engine", "junit-platform-engine", "junit-platform-launcher"):
        (directory / f"{name}-1.9.1.jar").touch()
    return directory


ZIG = """const Box = struct {
    fn go() i32 { return 2; }
    test go { _ = 1; }
    test "say \\"hi\\"" { _ = 1; }
};
//test "no" {
const text =
    \\\\test "nor this" {
;
test { _ = Box; }
test { _ = 2; }
test "adds up" { _ = 3; }
"""


@pytest.mark.parametrize(
    ("name", "selected"),
    [
        ("::adds up", ".test.adds up"),
        ("::a.test.adds up", ".test.adds up"),
        ("::go", ".decltest.go"),
        ('::say "hi"', '.test.say "hi"'),
        (":4", '.test.say "hi"'),
        (":10", ".test_0"),
        (":11", ".test_1"),
        ("::test_1", ".test_1"),
    ],
)
def test_zig_builds_the_tests_that_have_a_name(tmp_path: Path, name: str, selected: str) -> None:
    (tmp_path / "a.zig").write_text(ZIG)
    (tmp_path / "build.zig").touch()
    run = run_of(f"a.zig{name}", tmp_path)
    assert run.build is not None
    filtered = run.build.command.index("--test-filter")
    assert run.build.command[filtered + 1 :] == (selected, f"{tmp_path}/a.zig")
    assert (run.directory, run.build.otherwise) == (str(tmp_path), ("python-zig",))


def test_a_test_of_zig_that_is_not_there_is_refused_with_those_that_are(tmp_path: Path) -> None:
    (tmp_path / "a.zig").write_text(ZIG)
    with pytest.raises(NoSuchTest, match=r"no test 'adds upp' in .*; there are: adds up, and 2 more"):
        run_of("a.zig::adds upp", tmp_path)
    for name in ("test_2", "no", "nor this"):
        with pytest.raises(NoSuchTest, match=f"no test '{name}' in"):
            run_of(f"a.zig::{name}", tmp_path)
    whole = run_of("a.zig", tmp_path).build
    assert whole is not None
    assert "--test-filter" not in whole.command
    (tmp_path / "b.zig").touch()
    with pytest.raises(NoSuchTest, match="There is no test in"):
        run_of("b.zig", tmp_path)


@pytest.mark.parametrize(
    ("pattern", "output", "kind"),
    [
        (RAISED_IN_NODE["node"], TAP, "TypeError"),
        (RAISED_IN_NODE["node"], SPEC, "RangeError"),
        (RAISED_IN_NODE["mocha"], MOCHA, "TypeError"),
        (RAISED_IN_NODE["jest"], JEST, "TypeError"),
        (RAISED_IN_NODE["jest"], MATCHER, None),
        (RAISED_IN_NODE["vitest"], VITEST, "TypeError"),
        (RAISED_IN_RUBY, MINITEST, "NoMethodError"),
        (RAISED_IN_RUBY, TEST_UNIT, "Shop::Empty"),
        (RAISED_IN_RUBY, WRONG, None),
        (RAISED_IN_RSPEC, RSPEC, "NoMethodError"),
        (RAISED_IN_PHP, PHPUNIT, "Shop\\OutOfStock"),
    ],
)
def test_a_runner_says_by_which_exception_a_test_has_ended(pattern: str, output: str, kind: str | None) -> None:
    found = re.search(pattern, output)
    assert (None if found is None else found["kind"]) == kind
