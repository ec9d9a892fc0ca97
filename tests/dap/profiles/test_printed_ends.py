"""What Ruby, Perl and PHP print of the exception that ends a program."""

import pytest

from trio_debugmcp.dap.profiles.perl import PerlPrograms
from trio_debugmcp.dap.profiles.php import PhpPrograms
from trio_debugmcp.dap.profiles.printed_exceptions import Crash, CrashFrame
from trio_debugmcp.dap.profiles.ruby import RubyPrograms


def test_ruby_prints_an_exception_in_the_line_of_its_frame_and_below_it_what_it_was_raised_from() -> None:
    printed = """\
#<Thread:0x00 run> terminated with exception (report_on_exception is true):
/src/shop.rb:2:in `work': in a thread (ThreadError)
careful
/src/shop.rb:5:in 'block in Shop#price': no plum: sold (Shop::OutOfStock)
\tfrom /src/shop.rb:5:in 'Hash#fetch'
\tfrom /src/shop.rb:14:in '<main>'
/src/shop.rb:3:in `find': key not found (KeyError)
\tfrom /src/shop.rb:5:in `price'
"""
    found = RubyPrograms().printed_in(printed)
    frames = (
        CrashFrame("block in Shop#price", "/src/shop.rb", 5),
        CrashFrame("Hash#fetch", "/src/shop.rb", 5),
        CrashFrame("<main>", "/src/shop.rb", 14),
    )
    cause = Crash("KeyError: key not found", (CrashFrame("find", "/src/shop.rb", 3),), way="cause")
    assert found.crash == Crash("Shop::OutOfStock: no plum: sold", frames, inner=(cause,))
    assert (found.unseen is not None, found.by_line) == (True, False)
    assert RubyPrograms().printed_in("shop.rb:5: warning: unused (x)\n").crash is None


GEM = "/usr/lib/ruby/gems/3.1.0/gems/debug-1.4.0/lib/debug"

RDBG = f"""\
{GEM}/thread_client.rb:189:in `push': queue closed (ClosedQueueError)
\tfrom {GEM}/breakpoint.rb:157:in `block in setup'
\tfrom /src/shop.rb:3:in `price'
{GEM}/session.rb:1506:in `enter_subsession': already in subsession (RuntimeError)
\tfrom {GEM}/session.rb:168:in `block in activate'
"""


def test_where_rdbg_itself_fails_no_exception_of_the_program_has_ended_it() -> None:
    found = RubyPrograms().printed_in(RDBG)
    assert (found.crash, found.unseen) == (None, None)
    assert found.of_debugger is not None
    assert found.of_debugger.startswith(
        "rdbg 1.4.0 itself has failed, and not the program: already in subsession. A program"
    )
    only_first = RubyPrograms().printed_in(RDBG.partition(f"{GEM}/session.rb:1506")[0])
    assert only_first.of_debugger == "rdbg 1.4.0 itself has failed, and not the program: queue closed"


def test_perl_prints_what_ends_a_program_last_with_its_callers_behind_it() -> None:
    programs = PerlPrograms()
    callers = "\tmain::price('plum') called at a.pl line 9\n"
    printed = f"odd at a.pl line 2.\nno plum at /my src/a.pl line 6, <STDIN> line 3.\n{callers}"
    found = programs.printed_in(printed)
    assert found.crash == Crash("die: no plum", (CrashFrame("", "/my src/a.pl", 6),))
    assert found.by_line
    assert programs.printed_in("odd at a.pl line 2.\ndone\n").crash is None, "a warning, and the program went on"
    assert programs.printed_in("").crash is None


@pytest.mark.parametrize(
    ("line", "warns"),
    [
        ('warn "low stock";', True),
        ("carp 'odd' if $n;", True),
        ('warn("low") and die "none";', False),
        ("croak 'none'", False),
        ("return 1 / $n;", False),
        ("my $warned = 1 / $n;", False),
    ],
)
def test_a_line_of_perl_that_warns_has_not_ended_the_program(line: str, warns: bool) -> None:
    assert PerlPrograms().only_warns(line) is warns


def test_php_prints_what_an_exception_was_raised_from_above_it() -> None:
    printed = """\
PHP Warning:  odd in /src/a.php on line 2
PHP Fatal error:  Uncaught App\\KeyMissing: no
such key in /src/a.php:3
Stack trace:
#0 /src/a.php(8): price()
#1 {main}

Next App\\OutOfStock: no plum in /src/a.php:5
Stack trace:
#0 {main}
  thrown in /src/a.php on line 5
"""
    found = PhpPrograms().printed_in(printed)
    cause = Crash("App\\KeyMissing: no\nsuch key", (CrashFrame("", "/src/a.php", 3),), way="cause")
    assert found.crash == Crash("App\\OutOfStock: no plum", (CrashFrame("", "/src/a.php", 5),), inner=(cause,))
    assert PhpPrograms().printed_in("PHP Fatal error:  Allowed memory size exhausted in /a.php on line 3").crash is None
    assert PhpPrograms().printed_in("PHP Fatal error:  Uncaught Odd").crash is None, "cut off"
