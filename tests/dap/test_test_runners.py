"""What runs a test of each language, by its name: the program, its arguments, and how it is built."""

from pathlib import Path

import pytest

from trio_debugmcp.dap.profiles import test_runners
from trio_debugmcp.dap.profiles.language import NoSuchTest
from trio_debugmcp.dap.profiles.test_runners.test_run import TestRun as Run

PROJECTS = Path(__file__).parents[1] / "languages" / "projects"


PATTERN = r"(?:^| )adds up \(all\)$"
"""Of a test's title behind those of its suites."""


def run_of(test: str, place: Path | str = PROJECTS) -> Run:
    return test_runners.test_run(test, [str(place)])


def in_project(path: str) -> str:
    return str(PROJECTS / path)


def test_a_test_of_python_is_not_one_of_these() -> None:
    for test in (
        "tests/test_a.py::test_b",
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
        (tmp_path / file).touch()
    run = run_of("spec/a_spec.rb:4", tmp_path)
    assert (run.program, run.args) == (f"{tmp_path}/bin/rspec", (f"{tmp_path}/spec/a_spec.rb:4",))
    assert run_of("spec/a_spec.rb::adds up", tmp_path).args[1:] == ("-e", "adds up")


def test_a_file_of_perl_runs_as_a_whole_with_its_lib() -> None:
    run = run_of("stock/t/stock.t")
    assert (run.directory, run.env) == (in_project("stock"), {"PERL5LIB": in_project("stock/lib")})
    with pytest.raises(NoSuchTest, match="are run by the file"):
        run_of("stock/t/stock.t::counts add up")


def test_node_runs_what_imports_its_own_runner() -> None:
    run = run_of("web/test/sum.test.mjs::a basket > is cheap")
    assert (run.program, run.args, run.directory) == (in_project("web/test/sum.test.mjs"), (), in_project("web"))
    assert run.options["runtimeArgs"] == ["--test-name-pattern=(?:^| )is cheap$"]
    assert "<node_internals>/!(assert*)" in run.options["skipFiles"]
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
    assert (run.directory, run.fails_below) == (str(package), below)


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
        ("till/price/price_test.go::TestTota", "there are: TestTotal"),
        ("till::TestTotal", "no test was found there"),
        ("shelf/test/shelf_test.rb::test_nope", "there are: test_empty, test_counts_add_up"),
        ("web/test/sum.test.mjs::adds", "there are: adds up, and 3 more"),
        ("web-jest/sum.test.js::adds up", "Install one"),
        ("depot/tests/stock_test.cpp::CountsAdd", "there are: Stock.CountsAddUp"),
        ("depot/tests/stock_test.cpp", "are not built. Build them with: cmake -S "),
        ("shed/tests/shed_test.cpp::counts", "there are: counts add up"),
        ("ShelfTest.java::takesOut", "No runner is known for tests in .java files. Pass the runner's class"),
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
TEST_CASE("adds, up", "[a]") {}
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
        (":4", ("of a class",)),
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
