"""Where a test has failed, pydevd stops the program: code that runs beside the runner of tests, as text.

Where an exception is raised pydevd does not know whether it will fail a test: libraries catch most that leave the
user's code, and a test may be expected to fail. So the runner is asked. Each of pytest, unittest and nose2 tells when a
test has failed, before anything is torn down, and the stop shows the frames of the traceback, which still have all
their variables. Our own engine judges an exception where it is raised, and needs none of this.
"""

STOP_AT_FAILURES = """\
def stopping():
    import sys, threading
    get = getattr(sys.modules.get("_pydevd_bundle.pydevd_constants"), "get_global_debugger", None)
    debugger = get() if get is not None else None
    if debugger is None:
        return None
    from _pydevd_bundle.pydevd_comm import CMD_STEP_CAUGHT_EXCEPTION
    from _pydevd_bundle.pydevd_constants import EXCEPTION_TYPE_USER_UNHANDLED
    current_thread, shown = threading.current_thread, []
    # From Python 3.12 on the monitoring would stop this very thread at the next line, wherever that is.
    events = sys.modules.get("_pydevd_sys_monitoring.pydevd_sys_monitoring") or sys.modules.get("pydevd_sys_monitoring")
    leave, come_back = (
        getattr(events, name, None) for name in ("suspend_current_thread_tracing", "resume_current_thread_tracing")
    )
    def stop(error):
        if error is None or any(error is each for each in shown):
            return
        shown[:] = [error]
        wanted = debugger.break_on_uncaught_exceptions
        wanted = wanted and debugger.get_exception_breakpoint(type(error), wanted)
        trace = error.__traceback__ if wanted else None
        while trace is not None and debugger.exclude_exception_by_filter(wanted, trace):
            trace = trace.tb_next
        if trace is None:
            return
        thread = current_thread()
        info = debugger.set_additional_thread_info(thread)
        has_left = leave is not None and come_back is not None and sys.version_info >= (3, 12) and leave()
        info.is_tracing += 1
        try:
            info.pydev_message = type(error).__name__
            debugger.set_suspend(thread, CMD_STEP_CAUGHT_EXCEPTION)
            reported = (type(error), error, trace)
            debugger.do_wait_suspend(thread, trace.tb_frame, "exception", reported, EXCEPTION_TYPE_USER_UNHANDLED)
        finally:
            info.is_tracing -= 1
            if has_left:
                come_back()
    return stop

def pytest_plugins(stop, running):
    import pytest
    class Failures:
        @pytest.hookimpl(hookwrapper=True, tryfirst=True)
        def pytest_runtest_protocol(self, item):
            if type(item).__name__ != "TestCaseFunction":  # else the test is one of unittest, which is reported
                running.append(item)
            yield
            del running[:]
        @pytest.hookimpl(hookwrapper=True, tryfirst=True)
        def pytest_runtest_makereport(self, item, call):
            outcome = yield
            report = outcome.get_result()
            if report.failed and call.excinfo is not None and not hasattr(report, "wasxfail"):
                stop(call.excinfo.value)
        def pytest_exception_interact(self, call):  # of a file that is not collected; a test is reported
            if call.excinfo is not None:
                stop(call.excinfo.value)
    try:
        from _pytest.config import ConftestImportFailure
    except ImportError:
        return [Failures()]
    def reported(self, *args, **named):
        import sys
        if not running:
            stop(sys.exc_info()[1])
        original(self, *args, **named)
    original, ConftestImportFailure.__init__ = ConftestImportFailure.__init__, reported
    return [Failures()]

def follow_unittest(stop, running):
    import contextlib, sys, unittest
    from unittest import case, loader, suite
    run_part, class_failed = case._Outcome.testPartExecutor, suite.TestSuite._createClassOrModuleLevelException
    not_imported = loader._make_failed_import_test
    @contextlib.contextmanager
    def part(self, *args, **named):
        with run_part(self, *args, **named):
            is_first = not running
            if is_first:
                running.append(self)
            try:
                yield
            except (KeyboardInterrupt, unittest.SkipTest, case._ShouldStop):
                raise
            except BaseException as error:
                if running[:1] == [self] and not self.expecting_failure:
                    stop(error)
                raise
            finally:
                if is_first:
                    del running[:]
    def of_class(self, result, error, *args, **named):
        if not running and not isinstance(error, unittest.SkipTest):
            stop(error)
        return class_failed(self, result, error, *args, **named)
    def failed_import(*args):
        if not running:
            stop(sys.exc_info()[1])
        return not_imported(*args)
    case._Outcome.testPartExecutor = part
    suite.TestSuite._createClassOrModuleLevelException = of_class
    loader._make_failed_import_test = failed_import
"""
"""Runs in the program, on Python 3.8 and newer, before the runner: `stopping()` returns None where no pydevd is.

`running`: the outermost test, as a test of test runners may run others that fail.
"""
