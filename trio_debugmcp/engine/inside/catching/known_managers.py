"""Context managers whose way with exceptions is known by name: data, with what each entry means."""

SUPPRESSES_GIVEN = "suppresses the types that it is made with"

SUPPRESSES_PARTS = "suppresses the types that it is made with, in groups too"

PASSES = "never suppresses"

CANCELS = "suppresses the cancellation of its own scope only"

JOINS = "raises a group that may contain the exception"

STACK = "suppresses what one of the managers that it has entered suppresses"

GENERATOR = "suppresses what its generator catches at the yield"

RUNS_TEST = "records the exception as the outcome of a test"

EXITS = {
    ("contextlib", "suppress.__exit__"): SUPPRESSES_PARTS,
    ("unittest.case", "_AssertRaisesContext.__exit__"): SUPPRESSES_GIVEN,
    ("_pytest.python_api", "RaisesContext.__exit__"): SUPPRESSES_GIVEN,
    ("_pytest.raises", "RaisesExc.__exit__"): SUPPRESSES_GIVEN,
    ("contextlib", "ExitStack.__exit__"): STACK,
    ("contextlib", "AsyncExitStack.__aexit__"): STACK,
    ("contextlib", "_GeneratorContextManager.__exit__"): GENERATOR,
    ("contextlib", "_AsyncGeneratorContextManager.__aexit__"): GENERATOR,
    ("threading", "Condition.__exit__"): PASSES,
    ("multiprocessing.synchronize", "SemLock.__exit__"): PASSES,
    ("multiprocessing.synchronize", "Condition.__exit__"): PASSES,
    ("multiprocessing.managers", "AcquirerProxy.__exit__"): PASSES,
    ("tempfile", "_TemporaryFileWrapper.__exit__"): PASSES,
    ("tempfile", "SpooledTemporaryFile.__exit__"): PASSES,
    ("unittest.mock", "_patch.__exit__"): PASSES,
    ("unittest.case", "_AssertWarnsContext.__exit__"): PASSES,
    ("unittest._log", "_AssertLogsContext.__exit__"): PASSES,
    ("importlib._bootstrap", "_ModuleLockManager.__exit__"): PASSES,
    ("_pytest.recwarn", "WarningsChecker.__exit__"): PASSES,
    ("_pytest.subtests", "_SubTestContextManager.__exit__"): RUNS_TEST,
    ("pytest_subtests.plugin", "_SubTestContextManager.__exit__"): RUNS_TEST,
    ("asyncio.taskgroups", "TaskGroup.__aexit__"): JOINS,
    ("trio._core._run", "NurseryManager.__aexit__"): JOINS,
    ("anyio._backends._asyncio", "TaskGroup.__aexit__"): JOINS,
    ("trio._core._run", "CancelScope.__exit__"): CANCELS,
    ("anyio._backends._asyncio", "CancelScope.__exit__"): CANCELS,
    ("asyncio.runners", "Runner.__exit__"): PASSES,
}
"""By the module and the qualified name of the function that ends the block."""

FACTORIES = {
    ("unittest.case", "TestCase.assertRaises"): SUPPRESSES_GIVEN,
    ("unittest.case", "TestCase.assertRaisesRegex"): SUPPRESSES_GIVEN,
    ("_pytest.python_api", "raises"): SUPPRESSES_GIVEN,
    ("_pytest.raises", "raises"): SUPPRESSES_GIVEN,
    ("unittest.case", "TestCase.assertWarns"): PASSES,
    ("unittest.case", "TestCase.assertWarnsRegex"): PASSES,
    ("unittest.case", "TestCase.assertLogs"): PASSES,
    ("unittest.case", "TestCase.assertNoLogs"): PASSES,
    ("unittest.case", "TestCase.subTest"): RUNS_TEST,
    ("unittest.case", "_Outcome.testPartExecutor"): RUNS_TEST,
    ("unittest.mock", "_patch.decoration_helper"): PASSES,
    ("tempfile", "NamedTemporaryFile"): PASSES,
    ("tempfile", "TemporaryFile"): PASSES,
    ("os", "fdopen"): PASSES,
    ("pathlib", "Path.open"): PASSES,
    ("trio._core._run", "open_nursery"): JOINS,
}
"""By the module and the qualified name of the function that is called in the `with` statement."""

ARGUMENTS = ("_exceptions", "expected", "expected_exception", "expected_exceptions")
"""Attributes of a manager that has been made, with the types that it suppresses."""

C_MODULES = frozenset(
    "_thread _io builtins decimal _decimal sqlite3 _sqlite3 posix nt select mmap _multiprocessing _winapi _bz2 _lzma"
    " _zstd zlib winreg socket _socket ssl _ssl".split()
)
"""Modules in C of the standard library: their managers release something, and suppress nothing."""
