"""The functions in which a program, a thread, a task or a test ends: data.

An exception that arrives in one of them has left the code that was run. What becomes of it then is the runner's
business: it is printed, it fails a test, or it is kept for the one who waits for the result.
"""

PRINTED = "printed"
"""The runner prints it: nothing in the program will handle it."""

FAILS_TEST = "fails the test"

KEPT = "kept for the caller"
"""Raised again where the result is asked for, if that is ever done."""

LOOP = "event loop"
"""`KEPT` if a coroutine ran, else `PRINTED`."""

RUNNERS = {
    ("threading", "_bootstrap_inner"): PRINTED,
    ("multiprocessing.process", "_bootstrap"): PRINTED,
    ("socketserver", "process_request_thread"): PRINTED,
    ("code", "runcode"): PRINTED,
    ("IPython.core.interactiveshell", "run_code"): PRINTED,
    ("asyncio.events", "_run"): LOOP,
    ("uvloop.loop", "_run"): LOOP,
    ("asyncio.tasks", "__step_run_and_handle_result"): KEPT,
    ("asyncio.tasks", "__step"): KEPT,
    ("trio._core._run", "unrolled_run"): KEPT,
    ("trio._threads", "report_back_in_trio_thread_fn"): KEPT,
    ("outcome._impl", "capture"): KEPT,
    ("outcome._impl", "acapture"): KEPT,
    ("concurrent.futures.thread", "run"): KEPT,
    ("concurrent.futures.process", "_process_worker"): KEPT,
    ("concurrent.futures.interpreter", "run"): KEPT,
    ("multiprocessing.pool", "worker"): KEPT,
    ("multiprocessing.managers", "serve_client"): KEPT,
    ("gevent.greenlet", "run"): PRINTED,
    ("gevent._gevent_cgreenlet", "run"): PRINTED,
    ("_pytest.python", "pytest_pyfunc_call"): FAILS_TEST,
    ("_pytest.fixtures", "call_fixture_func"): FAILS_TEST,
    ("_pytest.fixtures", "_teardown_yield_fixture"): FAILS_TEST,
    ("_pytest.runner", "from_call"): FAILS_TEST,
    ("_pytest.python", "importtestmodule"): FAILS_TEST,
    ("_pytest.config", "_importconftest"): FAILS_TEST,
    ("_pytest.runner", "runtestprotocol"): FAILS_TEST,
    ("pytest_asyncio.plugin", "inner"): FAILS_TEST,
    ("anyio._backends._asyncio", "_run_tests_and_fixtures"): FAILS_TEST,
    ("anyio._backends._trio", "_run_tests_and_fixtures"): FAILS_TEST,
    ("pytest_trio.plugin", "run"): FAILS_TEST,
    ("unittest.case", "_callTestMethod"): FAILS_TEST,
    ("unittest.case", "_callSetUp"): FAILS_TEST,
    ("unittest.case", "_callTearDown"): FAILS_TEST,
    ("unittest.case", "_callCleanup"): FAILS_TEST,
    ("unittest.case", "doClassCleanups"): FAILS_TEST,
    ("unittest.case", "doModuleCleanups"): FAILS_TEST,
    ("unittest.async_case", "_callTestMethod"): FAILS_TEST,
    ("unittest.async_case", "_callMaybeAsync"): FAILS_TEST,
    ("unittest.suite", "_handleClassSetUp"): FAILS_TEST,
    ("unittest.suite", "_handleModuleFixture"): FAILS_TEST,
    ("unittest.suite", "_tearDownPreviousClass"): FAILS_TEST,
    ("unittest.suite", "_handleModuleTearDown"): FAILS_TEST,
    ("unittest.loader", "_get_module_from_name"): FAILS_TEST,
    ("unittest.loader", "loadTestsFromName"): FAILS_TEST,
    ("unittest.loader", "loadTestsFromModule"): FAILS_TEST,
    ("doctest", "__run"): FAILS_TEST,
}
"""By the name of the module and of the function's code."""

NAMES = frozenset([name for (_, name) in RUNNERS])

OUTCOMES = frozenset(
    {
        ("unittest.case", "SkipTest"),
        ("unittest.case", "_ShouldStop"),
        ("unittest.case", "_UnexpectedSuccess"),
        ("_pytest.outcomes", "Skipped"),
        ("builtins", "Skipped"),  # as pytest calls its own
        ("_pytest.outcomes", "XFailed"),
        ("_pytest.outcomes", "Exit"),
    }
)
"""Exceptions that are an outcome of a test, and not its failure: by module and name of a class they inherit from."""

RELAYS = frozenset(
    {
        ("contextlib", "ExitStack.__exit__"),
        ("contextlib", "AsyncExitStack.__aexit__"),
        ("pluggy._callers", "_multicall"),
    }
)
"""Functions that catch an exception to raise it again later, by module and qualified name."""

RELAY_NAMES = frozenset([name.rpartition(".")[2] for (_, name) in RELAYS])
