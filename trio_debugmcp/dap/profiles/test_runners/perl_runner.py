"""Tests of Perl: a `.t` file, as `prove -l` runs it."""

from trio_debugmcp.dap.profiles.language import NoSuchTest
from trio_debugmcp.dap.profiles.test_runners.named_test import NamedTest, TestRun


def perl_run(test: NamedTest) -> TestRun:
    """Return how a file of tests is run: in the directory above `t`, with its `lib`.

    Raises:
        NoSuchTest: a part of the file is named.
    """
    if test.name or test.line is not None:
        raise NoSuchTest(f"Tests of Perl are run by the file: pass test='{test.file}', and a breakpoint in it.")
    parents = test.path.parents
    home = next((folder.parent for folder in parents if folder.name in ("t", "xt")), parents[0])
    load = [str(place) for place in (home / "lib", home / "blib" / "lib", home / "t" / "lib") if place.is_dir()]
    return TestRun(test.file, (), str(home), {"PERL5LIB": ":".join(load)} if load else {})
