"""What signal handlers raise, and what is sent, while a thread is at a stop, in whatever it does: nothing is lost."""

# mypy: ignore-errors

import _thread
import ctypes
import signal
from contextlib import contextmanager
from functools import partial

from trio_debugmcp.engine.inside.attention import Attention
from trio_debugmcp.engine.inside.held_threads import HeldThreads, ThreadStop
from trio_debugmcp.engine.inside.interruptions import OWN_FILES, clean, completed, firm
from trio_debugmcp.engine.inside.thread_records import ThreadRecords

FIRST, SECOND = signal.SIGUSR1, signal.SIGALRM


class Late(Exception):
    pass


def late(number, *_):
    raise Late(number)


@contextmanager
def handlers():
    before = [(number, signal.signal(number, late)) for number in (FIRST, SECOND)]
    try:
        yield
    finally:
        for number, handler in before:
            signal.signal(number, handler)


def both_come():
    """Their handlers run one after the other: the second where the first has raised, and that is caught."""
    list(map(_thread.interrupt_main, (FIRST, SECOND)))


def numbers(raised):
    return [error.args[0] for error in raised]


class Events:
    """Of the interpreter: the next one."""

    soon = None

    def at_next_event(self, function):
        self.soon = function
        return True

    def come(self):
        function, self.soon = self.soon, None
        function()

    def forget(self, user):
        pass


def stopped(announce):
    """What `stop` raises, and the events, where `announce` tells the debugger, which resumes."""
    threads = ThreadRecords(_thread.get_ident())
    record, events = threads.current(), Events()
    held = HeldThreads(threads, events, Attention(), lambda stop: announce(held, stop), lambda stop: None)
    try:
        held.stop(ThreadStop(record, None, "breakpoint"))
    except Late as error:
        clean(error)
        return error, events, held
    return None, events, held


def check_a_stop_that_was_announced_lasts_though_a_handler_raises_before_the_thread_waits():
    log = []

    def announce(held, stop):
        if not stop.sent:
            stop.sent.append(True)
            signal.raise_signal(FIRST)
        log.append(("sent", held.holder is stop.record, stop.record.stop is stop))
        held.resume(stop.record)

    with handlers():
        error, _, held = stopped(announce)
    assert error.args == (FIRST,)
    assert log == [("sent", True, True)]
    assert held.holder is None


def check_a_thread_in_the_midst_of_a_message_is_not_held_and_the_place_is_said():
    threads, missed = ThreadRecords(_thread.get_ident()), []
    held = HeldThreads(threads, Events(), Attention(), lambda stop: missed.append("announced"), missed.append)
    held.is_sending = lambda ident: ident == record.ident
    record = threads.current()
    stop = ThreadStop(record, None, "breakpoint")
    held.stop(stop)
    assert missed == [stop]
    held.holder = object()  # another thread is stopped
    held.park(record, None, at_breakpoint=True)
    assert held.parked == []


def check_of_two_that_come_at_once_one_is_raised_at_the_end_of_the_stop_and_the_other_at_the_next_event():
    log = []

    def announce(held, stop):
        def resume():
            log.append("resumed")
            held.resume(stop.record)

        for item in (both_come, resume):
            stop.record.inbox.put(item)

    with handlers():
        error, events, _ = stopped(announce)
        assert (error.args, log) == ((FIRST,), ["resumed"])
        assert raised_by(events.come) == (SECOND,)
        assert events.soon is None


def check_what_is_sent_to_a_thread_that_is_held_is_raised_at_the_end_of_the_stop():
    sent = []

    def announce(held, stop):
        send = ctypes.pythonapi.PyThreadState_SetAsyncExc
        itself = ctypes.c_ulong(_thread.get_ident()), ctypes.py_object(Late)
        for item in (partial(send, *itself), lambda: sent.append(True), lambda: held.resume(stop.record)):
            stop.record.inbox.put(item)

    error, _, held = stopped(announce)
    assert (type(error), sent, held.faults) == (Late, [True], [])


def check_a_call_of_a_function_in_c_has_its_result_whatever_handlers_raise_meanwhile():
    raised, results = [], []
    with handlers():
        results.append(firm(raised, list, map(_thread.interrupt_main, (FIRST, SECOND))))
    assert (numbers(raised), results) == ([FIRST, SECOND], [[None, None]])


def check_a_function_is_completed_whatever_handlers_raise_meanwhile():
    raised, steps = [], []

    def work():
        steps.append("begins")
        if len(steps) == 1:
            both_come()
        steps.append("ends")

    with handlers():
        completed(raised, work)
    assert (numbers(raised), steps) == ([FIRST, SECOND], ["begins", "begins", "ends"])


def check_an_error_of_ours_ends_a_call():
    names = {}
    exec(compile("def own(_): raise ValueError('own')", f"{OWN_FILES}/own.py>", "exec"), names)
    for call in (firm, completed):
        assert raised_by(lambda call=call: call([], names["own"], 1)) == ("own",)


def raised_by(function):
    try:
        function()
    except BaseException as error:
        clean(error)  # as it arrives in the program
        return error.args
    return None
