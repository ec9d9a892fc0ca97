"""Python that runs beside pydevd in a program on Python 3.8 to 3.11, for threads that have lost its trace function.

A thread loses it by `sys.settrace`, and where pydevd's own code meets the limit of recursion. Nothing says so at that
moment. So a thread of ours looks a few times a second whether the main thread has it still: in the state that the
interpreter keeps of that thread, at the place where a mark was found in the state of our own. If not, it says so, and
has the main thread take it again, between two instructions (`Py_AddPendingCall`). Only the main thread runs such calls;
others say it at their end, as the main thread does of what was too short to be seen.
"""

KEEPER = """
import os
if sys.version_info < (3, 12) and getattr(monkey, "_keeping", None) != os.getpid():
    monkey._keeping = os.getpid()
    def say(text):
        debugger = monkey.get_global_debugger()
        debugger.writer.add_command(debugger.cmd_factory.make_console_message(text + "\\n"))
    def say_if_lost(name):
        debugger = monkey.get_global_debugger()
        if debugger is None or debugger.pydb_disposed:
            return
        if not debugger.breakpoints and not debugger.break_on_uncaught_exceptions:
            return
        if not type(sys.gettrace()).__module__.startswith(("pydev", "_pydev")):
            said = f"The {name} has ended without pydevd's trace function, and nothing "
            said += "stopped in it since it had lost that. sys.settrace takes it away, and so does a RecursionError."
            say(said)
    def say_at_end(disable):
        def disable_tracing(self):
            caller = sys._getframe(1)
            thread = caller.f_locals.get("t")
            if caller.f_code.co_name == "__call__" and not hasattr(thread, "is_pydev_daemon_thread"):
                say_if_lost(f"thread {thread.name}")  # a thread of the program ends
            disable(self)
        return disable_tracing
    def keep_tracing(debugger, pause):
        import ctypes
        api, main, size = ctypes.pythonapi, [], ctypes.sizeof(ctypes.c_size_t)
        api.PyThreadState_Get.restype = ctypes.c_void_p
        kind = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)
        under_way = [False]
        def look(_):
            main.append(api.PyThreadState_Get())
            under_way[0] = False
            return 0
        def restore(_):
            try:
                if sys.gettrace() is None and not debugger.pydb_disposed:
                    debugger.enable_tracing()
            finally:
                under_way[0] = False  # no call follows, so no other thread runs before this one is over
            return 0
        def have_called(call):
            # Python 3.11 begins a traced function for ever while one call is under way and another one waits.
            if not under_way[0]:
                under_way[0] = True
                if api.Py_AddPendingCall(call, None):
                    under_way[0] = False
        def is_starting():
            frame = sys._current_frames().get(threads.main_thread().ident)
            while frame is not None and frame.f_code.co_name != "_locked_settrace":
                frame = frame.f_back
            return frame is not None
        def mark(frame, event, arg):
            return None
        def places():
            state = (ctypes.c_size_t * 30).from_address(api.PyThreadState_Get())
            return [number for number, each in enumerate(state) if each == id(mark)]
        set_trace = sys.modules["pydevd_tracing"].TracingFunctionHolder._original_tracing or sys.settrace
        set_trace(mark)
        found = places()
        set_trace(None)
        if len(found) != 1 or places():
            return
        calls = kind(look), kind(restore)
        have_called(calls[0])
        looks = 0
        while not pause.acquire(True, 0.2) and not debugger.pydb_disposed:
            if not main or not debugger.ready_to_run:
                continue
            info = getattr(threads.main_thread(), "additional_info", None)
            is_traced = ctypes.c_size_t.from_address(main[0] + found[0] * size).value != 0
            is_there = is_traced or getattr(info, "pydev_state", 1) == 2 or is_starting()
            looks = 0 if is_there else looks + 1
            if looks == 2:
                said = "The main thread had lost pydevd's trace function, and has it again. Meanwhile no breakpoint "
                said += "and no exception stopped it. sys.settrace takes it away, and so does a RecursionError; "
                say(said + "not so on Python 3.12 and newer.")
            if looks > 1:
                have_called(calls[1])
    threads = sys.modules["threading"]
    debugger = monkey.get_global_debugger()
    if not hasattr(monkey, "_says_at_end"):  # a fork has it from its parent
        monkey._says_at_end = True
        type(debugger).disable_tracing = say_at_end(type(debugger).disable_tracing)
        register = getattr(threads, "_register_atexit", callable)  # of 3.9; atexit is later than pydevd's end
        register(lambda: say_if_lost("main thread"))
    daemons = sys.modules["_pydevd_bundle.pydevd_daemon_thread"]
    import _thread
    pause = _thread.allocate_lock()
    pause.acquire()
    keeper = daemons.run_as_pydevd_daemon_thread(debugger, keep_tracing, debugger, pause)
    kill = keeper.do_kill_pydev_thread
    def kill_at_once():  # a program does not end before pydevd's threads have, for half a second
        kill()
        if pause.locked():
            pause.release()
    keeper.do_kill_pydev_thread = kill_at_once
"""
"""Behind `SHELTER`, whose names `monkey` and `sys` it has."""


def untraced(text: str) -> str:
    """Return an expression that runs statements, with globals of their own.

    They have the name of a file of pydevd's, as code that is called `<string>` may be the program's.
    """
    return f"exec(compile({text!r}, 'pydevd.py', 'exec'), {{}})"
