"""What an exception has run when it has left a function."""

from trio_debugmcp.dap.profiles.python.branches import cleanups

TEXT = """\
with lock:
    def load():
        try:
            rows.append(1)
            raise LookupError("no room")
        finally:
            rows.clear()

    def work():
        with open(file) as found:
            try:
                load()
            except KeyError:
                pass
    work()
try:
    pass
finally:
    print("end")
"""


def test_the_ends_of_blocks_around_a_line_of_its_function_have_run() -> None:
    assert [cleanups(TEXT, line) for line in (5, 12, 14, 15, 17)] == [[7], [10], [10], [1], [19]]


def test_a_try_of_groups_has_a_cleanup_like_any() -> None:
    assert cleanups("try:\n    work()\nexcept* OSError:\n    pass\nfinally:\n    close()\n", 2) == [6]


def test_elsewhere_and_in_other_languages_nothing_has() -> None:
    assert [cleanups(TEXT, line) for line in (7, 19)] == [[], []]
    assert cleanups("if (x) { finally }", 1) == ()
