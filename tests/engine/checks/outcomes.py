"""What becomes of exceptions under runners of tests: those that fail a test, and those that it is to raise."""

# mypy: ignore-errors

import doctest
import functools
import io
import sys
import threading
import time
import types
import unittest

from tests.engine.oracle import Oracle
from trio_debugmcp.engine.inside.catching import propagation


def verdict_of(run):
    """The outcome of what `raising` raises while a function runs, with what the runner does or how it is caught."""
    oracle = Oracle()
    with oracle:
        run()
    [episode] = [each for each in oracle.episodes if each.code is raising.__code__]
    assert episode.verdict == "right", episode
    return episode.outcome, episode.runner or episode.how


def raising():
    raise KeyError


def run_test(kind):
    unittest.TextTestRunner(stream=io.StringIO()).run(kind("test"))


class Failing(unittest.TestCase):
    def test(self):
        raising()


FAILS = ("uncaught", "fails the test")

EXPECTED = ("caught", "test outcome")


class Owner:
    def method(self):
        raising()


def check_what_calls_a_bound_method_or_a_partial_passes_on_what_that_raises():
    def verdict(called):
        class Calling(unittest.TestCase):
            def test(self):
                called()

        return verdict_of(lambda: run_test(Calling))

    assert verdict(Owner().method) == FAILS
    assert verdict(functools.partial(Owner.method, Owner())) == FAILS
    assert verdict(functools.partial(functools.partial(Owner().method))) == FAILS


def check_a_cleanup_of_a_class_that_fails():
    class Cleaned(unittest.TestCase):
        @classmethod
        def setUpClass(cls):
            cls.addClassCleanup(raising)

        def test(self):
            pass

    def run():
        suite = unittest.TestSuite([Cleaned("test")])
        unittest.TextTestRunner(stream=io.StringIO()).run(suite)

    assert verdict_of(run) == FAILS


def check_a_test_that_fails():
    assert verdict_of(lambda: run_test(Failing)) == FAILS


def check_a_test_that_is_expected_to_fail():
    class Expected(Failing):
        test = unittest.expectedFailure(Failing.test)

    @unittest.expectedFailure
    class AllExpected(Failing):
        def test(self):
            with self.subTest("a part"):
                raising()

    assert verdict_of(lambda: run_test(Expected)) == EXPECTED
    assert verdict_of(lambda: run_test(AllExpected)) == EXPECTED


def check_what_sets_up_a_test_that_is_expected_to_fail():
    @unittest.expectedFailure
    class Expected(unittest.TestCase):
        def setUp(self):
            raising()

        def test(self):
            pass

    assert verdict_of(lambda: run_test(Expected)) == FAILS


def check_a_test_that_runs_a_failing_one():
    class Outer(unittest.TestCase):
        def test(self):
            run_test(Failing)

    assert verdict_of(lambda: run_test(Outer)) == EXPECTED


def check_examples_of_doctest():
    def documented(text):
        module = types.ModuleType("documented", text)
        module.raising = raising
        tests = doctest.DocTestSuite(module)
        return lambda: unittest.TextTestRunner(stream=io.StringIO()).run(tests)

    assert verdict_of(documented(">>> raising()\n1\n")) == FAILS
    told = ">>> raising()\nTraceback (most recent call last):\nKeyError\n"
    assert verdict_of(documented(told)) == EXPECTED


def check_a_module_of_tests_that_cannot_be_imported():
    loader = unittest.TestLoader()
    module = types.ModuleType("tests")
    module.load_tests = lambda *_: raising()
    assert verdict_of(lambda: loader.loadTestsFromModule(module)) == FAILS


def check_what_leaves_the_users_code_where_a_library_may_catch_it_early_or_late():
    def library_early(function):
        try:
            function()
        except Exception as error:
            if not isinstance(error, KeyError):
                return
            raise

    def library_late(function):
        try:
            library_early(function)
        except Exception:
            pass

    def user():
        raising()

    users = {user.__code__, raising.__code__}
    found = []
    judge = propagation.judge

    def judged(exception, frame, offset, exact=False):
        verdict = judge(exception, frame, offset, exact)
        if exact and frame.f_code is raising.__code__:
            found.append(verdict.leaves_user_code(lambda each: each.f_code in users))
        return verdict

    propagation.judge = judged
    try:
        with Oracle():
            library_late(user)
            users.add(library_early.__code__)
            library_late(user)
    finally:
        propagation.judge = judge
    assert found == [True, None]


def check_the_end_of_an_object_in_the_frame_of_a_runner():
    class Proxy(io.TextIOBase):
        def __getattr__(self, name):
            raising_for_attribute()

    class Ended:
        def __del__(self):
            raising_for_attribute()

    def raising_for_attribute():
        raise AttributeError

    runner = {"__name__": "unittest.case"}
    exec("def _callTestMethod(objects): objects.pop()", runner)
    hook, sys.unraisablehook = sys.unraisablehook, lambda _: None
    try:
        for kind in (Proxy, Ended):
            with Oracle() as oracle:
                runner["_callTestMethod"]([kind()])
            outcomes = [each.outcome for each in oracle.episodes if each.code is raising_for_attribute.__code__]
            assert outcomes, kind
            assert "uncaught" not in outcomes, (kind, outcomes)
    finally:
        sys.unraisablehook = hook


def check_the_end_of_an_object_after_the_last_frame_of_a_thread():
    class Proxy(io.TextIOBase):
        def __getattr__(self, name):
            raising_for_attribute()

    def raising_for_attribute():
        raise AttributeError

    def keep():
        local.proxy = Proxy()

    local = threading.local()
    with Oracle() as oracle:
        thread = threading.Thread(target=keep)
        thread.start()
        thread.join()
        while not oracle.episodes:  # the thread is joined before all that it had is dropped
            time.sleep(0.01)
    outcomes = [each.outcome for each in oracle.episodes if each.code is raising_for_attribute.__code__]
    assert outcomes
    assert "uncaught" not in outcomes, outcomes
