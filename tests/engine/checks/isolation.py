"""The room runs no code of the program, needs nothing of it, raises nothing, and leaves nothing behind."""

# mypy: ignore-errors

import builtins
import gc
import importlib
import pathlib
import sys
import types
import weakref

from tests.engine.oracle import Oracle
from trio_debugmcp.engine.inside.catching import propagation, thrown_exception

ROOM = "trio_debugmcp.engine.inside.catching"

MODULES = [
    *("opcodes", "exception_table", "disassembly", "stack_effects", "operands", "handlers", "namespaces"),
    *("thrown_exception", "readings", "known_managers", "managers", "settling", "c_calls", "runners"),
    *("expected_failures", "propagation", "waiting_tasks"),
]


traceback_of = BaseException.__dict__["__traceback__"].__get__


def judged(function):
    """The verdicts of the exceptions that a function raises, by the callback of a tool."""
    found = []
    monitoring = sys.monitoring
    monitoring.use_tool_id(3, "checks")

    def on_raise(code, offset, exception):
        trace = traceback_of(exception)
        if trace is not None and trace.tb_next is None:
            ran.judging = True
            verdict = propagation.judge(exception, sys._getframe(1), offset, exact=True)
            ran.judging = False
            found.append((verdict.outcome, verdict.frame.f_code.co_name, verdict.line, verdict.reason))

    monitoring.register_callback(3, monitoring.events.RAISE, on_raise)
    monitoring.set_events(3, monitoring.events.RAISE)
    try:
        function()
    finally:
        monitoring.set_events(3, 0)
        monitoring.register_callback(3, monitoring.events.RAISE, None)
        monitoring.free_tool_id(3)
    return found


class Ran(list):
    """Notes that code of the program ran while a verdict was found; the interpreter itself runs some at a raise."""

    judging = False

    def note(self, name, real):
        def noting(*args, **keywords):
            if self.judging:
                self.append(name)
            return real(*args, **keywords)

        return noting


ran = Ran()


class HostileMeta(type):
    __getattribute__ = ran.note("getattribute of the class", type.__getattribute__)
    __instancecheck__ = ran.note("instancecheck", type.__instancecheck__)
    __subclasscheck__ = ran.note("subclasscheck", type.__subclasscheck__)
    __eq__ = ran.note("eq of the class", type.__eq__)
    __hash__ = ran.note("hash of the class", type.__hash__)
    __mro__ = property(ran.note("mro", lambda own: ()))
    __name__ = property(ran.note("name", lambda own: ""))
    __module__ = property(ran.note("module", lambda own: ""))


class Hostile(KeyError, metaclass=HostileMeta):
    __getattribute__ = ran.note("getattribute", object.__getattribute__)
    __eq__ = ran.note("eq", object.__eq__)
    __hash__ = ran.note("hash", object.__hash__)
    __class__ = property(ran.note("class", type))


def hostile_manager():
    class Manager:
        __getattribute__ = ran.note("getattribute of the manager", object.__getattribute__)

        def __enter__(self):
            return self

        def __exit__(self, *exc):
            return None

    return Manager()


def check_no_code_of_the_program_runs():
    def program():
        try:
            with hostile_manager():
                raise Hostile
        except LookupError:
            pass

    def asking():
        try:
            Asked().value  # noqa: B018
        except (Hostile, *made):
            pass

    class Asked(metaclass=HostileMeta):
        @property
        def value(self):
            raise Hostile

    made = [Hostile]
    assert judged(program)[0][:2] == (thrown_exception.CAUGHT, "program")
    assert judged(asking)
    assert ran == []


def refused(*_, **__):
    raise SystemError("a builtin of the program was used")


def check_a_program_that_patches_builtins_changes_nothing():
    copies = {}
    private = dict(vars(builtins))
    for name in MODULES:
        source = importlib.import_module(f"{ROOM}.{name}")
        copy = types.ModuleType(f"{ROOM}.{name}")
        text = pathlib.Path(source.__file__).read_text(encoding="utf-8")
        copies[name] = copy

        def found(full, *_, **__):
            if full == "sys":
                return sys
            package = types.ModuleType(full)
            package.__dict__.update(copies)
            return copies.get(full.rpartition(".")[2], package)

        copy.__dict__["__builtins__"] = {**private, "__import__": found}
        exec(compile(text, f"<{name}>", "exec"), copy.__dict__)
    patched = dict.fromkeys(("len", "type", "tuple", "any", "zip", "dict", "isinstance", "reversed", "id"), refused)
    kept = {name: getattr(builtins, name) for name in patched}
    try:
        raise KeyError
    except KeyError as error:
        frame = sys._getframe()
        offset = error.__traceback__.tb_lasti
        vars(builtins).update(patched)
        try:
            verdict = copies["propagation"].judge(error, frame, offset)
        finally:
            vars(builtins).update(kept)
    assert verdict.outcome == "caught"
    assert verdict.frame is frame


def check_nothing_but_sys_is_needed_before():
    for name in MODULES:
        for value in vars(importlib.import_module(f"{ROOM}.{name}")).values():
            if isinstance(value, types.ModuleType):
                assert value is sys or value is builtins or value.__name__.startswith(ROOM)


def check_near_the_recursion_limit_it_answers():
    outcomes = set()

    def deep(left):
        try:
            deep(left - 1)
        except ValueError:
            pass

    def program():
        for _ in range(3):
            try:
                deep(10**6)
            except RecursionError:
                pass

    for outcome, *_ in judged(program):
        outcomes.add(outcome)
    assert outcomes <= {thrown_exception.CAUGHT, thrown_exception.UNKNOWN}


def check_it_keeps_neither_frames_nor_values_alive():
    class Value:
        pass

    alive = []

    def program():
        value = Value()
        alive.append(weakref.ref(value))
        kinds = (KeyError, ValueError)
        try:
            raise KeyError
        except kinds:
            pass
        del value
        alive.append(alive[0]())

    judged(program)
    assert alive[1] is None, "a copy of the frame's variables keeps a value alive"
    gc.collect()


def check_a_verdict_says_whether_a_library_handles_it():
    def library(function):
        try:
            function()
        except KeyError:
            pass

    def user():
        raise KeyError

    def is_user(frame):
        return frame.f_code.co_name == "user"

    answers = []
    monitoring = sys.monitoring
    monitoring.use_tool_id(3, "checks")
    monitoring.register_callback(
        3,
        monitoring.events.RAISE,
        lambda code, offset, exception: answers.append(
            propagation.judge(exception, sys._getframe(1), offset).leaves_user_code(is_user)
        ),
    )
    monitoring.set_events(3, monitoring.events.RAISE)
    library(user)
    monitoring.set_events(3, 0)
    monitoring.free_tool_id(3)
    assert answers[0] is True


def check_the_oracle_counts_a_wrong_verdict():
    real = propagation.judge

    def wrong(exception, frame, offset, exact=False):
        verdict = real(exception, frame, offset, exact)
        verdict.outcome = thrown_exception.UNCAUGHT
        return verdict

    def program():
        try:
            raise KeyError
        except KeyError:
            pass

    propagation.judge = wrong
    oracle = Oracle()
    try:
        with oracle:
            program()
    finally:
        propagation.judge = real
    assert [episode.verdict for episode in oracle.episodes if episode.code is program.__code__] == ["wrong"]
