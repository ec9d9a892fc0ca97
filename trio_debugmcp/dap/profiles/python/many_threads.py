"""All threads of a program suspended and resumed by pydevd in one pass.

After each thread pydevd looks at all threads again, for those that step: with 1,500 a stop takes half a minute. And a
thread that is to run on from a stop sees that only when it looks next: here it is woken.
"""

MANY_THREADS = """
def in_one_pass(lifecycle, constants, get_debugger):
    info_of = lifecycle.set_additional_thread_info
    resume_some = lifecycle.resume_threads
    def resume_threads(thread_id, except_thread=None):
        if thread_id != "*":
            return resume_some(thread_id, except_thread)
        info, waiting = None, []
        for thread in lifecycle.pydevd_utils.get_non_pydevd_threads():
            if thread is None or thread is except_thread:
                continue
            info = info_of(thread)
            info.pydev_original_step_cmd = info.pydev_step_cmd = -1
            info.pydev_step_stop = None
            info.pydev_state = lifecycle.STATE_RUN
            if info.is_in_wait_loop:
                waiting.append(thread)
        if info is not None:
            info.update_stepping_info()
        debugger = get_debugger()
        for thread in waiting if debugger is not None else ():
            debugger.get_internal_queue_and_event(lifecycle.get_thread_id(thread))[1].set()
    def suspend_all_threads(debugger, except_thread):
        if lifecycle.PYDEVD_USE_SYS_MONITORING:
            lifecycle.pydevd_sys_monitoring.update_monitor_events(suspend_requested=True)
        info, marked = None, []
        for thread in lifecycle.pydevd_utils.get_non_pydevd_threads():
            if thread is except_thread or getattr(thread, "pydev_do_not_trace", None):
                continue
            info = info_of(thread)
            info.suspend_type = lifecycle.PYTHON_SUSPEND
            thread.stop_reason = info.pydev_step_cmd = lifecycle.CMD_THREAD_SUSPEND
            info.pydev_step_stop = None
            info.pydev_state = lifecycle.STATE_SUSPEND
            marked.append(thread)
        if info is not None:
            info.update_stepping_info()
        frames = constants._current_frames()  # once all are marked: what they call from now on looks at the mark
        for thread in marked:
            frame = frames.get(thread.ident)
            if frame is not None:
                debugger.set_trace_for_frame_and_parents(thread.ident, frame)
        frames = frame = None
        if lifecycle.PYDEVD_USE_SYS_MONITORING:
            lifecycle.pydevd_sys_monitoring.restart_events()
    for name, function in {"resume_threads": resume_threads, "suspend_all_threads": suspend_all_threads}.items():
        before = getattr(lifecycle, name)
        for user in USERS:
            module = sys.modules.get(user)
            if getattr(module, name, None) is before:
                setattr(module, name, function)
        setattr(lifecycle, name, function)
USERS = ("pydevd", "_pydevd_bundle.pydevd_api", "_pydevd_bundle.pydevd_comm", "_pydevd_bundle.pydevd_vars")
lifecycle = sys.modules.get("_pydevd_bundle.pydevd_thread_lifecycle")
constants = sys.modules.get("_pydevd_bundle.pydevd_constants")
if lifecycle is not None and not constants.SUPPORT_GEVENT:
    in_one_pass(lifecycle, constants, constants.get_global_debugger)
"""
"""Statements, for programs that pydevd debugs. Greenlets are threads to it that `sys._current_frames` does not know."""
