"""Whether the manager of a `with` block suppresses an exception, without calling it.

The manager itself lies on the frame's stack, which cannot be read. The expression in the `with` statement names it, or
the class or function that made it: then the function that ends the block is known, and is judged by its name
(`known_managers`), by its code (one that returns nothing suppresses nothing), or, for a generator of `contextlib`, by
the handlers around its `yield`.
"""

from trio_debugmcp.engine.inside.catching import handlers, readings
from trio_debugmcp.engine.inside.catching import known_managers as known
from trio_debugmcp.engine.inside.catching.namespaces import (
    MISSING,
    NameScope,
    attribute,
    in_class,
    is_class,
    owner_in_class,
)
from trio_debugmcp.engine.inside.catching.thrown_exception import ThrownException, matches

MYPY = False
if MYPY:
    from trio_debugmcp.engine.inside.catching.notation import (
        Any,
        CodeType,
        Expression,
        FrameType,
        FunctionType,
        Iterator,
        MethodType,
        Settle,
    )

MOST_NESTED = 4
"""Functions that return what another function returns."""

UNKNOWN_MANAGER = "the manager of a `with` block is not known"

_Function: "Any" = type(lambda: None)
_Builtin = type(len)
_BoundMethod: "Any" = type(NameScope.__init__.__get__(1))


def _generator() -> "Iterator[None]":
    yield


_Slot = type(list.__dict__["__iter__"])
_Generator: "Any" = type(_generator())

_name_of = type.__dict__["__name__"].__get__
_module_of = type.__dict__["__module__"].__get__


def in_c(kind: type) -> bool:
    """Return whether a class comes from a module in C of the standard library."""
    module = _module_of(kind)
    return type(module) is str and module in known.C_MODULES


def named(function: "FunctionType") -> tuple[str, str]:
    """Return the module and the qualified name of a function's code, which decorators do not change."""
    module = function.__globals__.get("__name__")
    return (module if type(module) is str else "", function.__code__.co_qualname)


class ManagerQuestion:
    """One question: is an exception suppressed by the block that `exit_name` ends?"""

    __slots__ = ("_settle", "_thrown", "exit_name")

    def __init__(self, exit_name: str, thrown: ThrownException, settle: "Settle") -> None:
        self.exit_name = exit_name
        self._thrown = thrown
        self._settle = settle

    def of_block(self, manager: "Expression | None", name: str | None, scope: NameScope) -> tuple[bool | None, str]:
        """Return whether the exception is suppressed, and the reason if that is not known."""
        answer = self._of_expression(manager, scope, 0)
        if answer == known.STACK and name is not None:
            entered = scope.value(("name", name))
            if entered is not MISSING and self._exit_rule(type(entered)) == known.STACK:
                answer = self._of_stack(entered, 0)
        if answer is True or answer is False:
            return (answer, "")
        return (None, UNKNOWN_MANAGER if answer is None else answer)

    def _of_expression(self, manager: "Expression | None", scope: NameScope, nested: int) -> "bool | str | None":
        if manager is None or nested > MOST_NESTED:
            return None
        if manager[0] != "call":
            made = scope.value(manager)
            return None if made is MISSING else self._of_object(made, nested)
        maker = scope.value(manager[1])
        if maker is MISSING:
            return None
        if is_class(maker):
            return self._of_new(maker, manager, scope)
        if type(maker) is _Function:
            return self._of_function(maker, manager, scope, nested)
        if type(maker) is _Builtin:
            module = maker.__module__
            return False if type(module) is str and module in known.C_MODULES else None
        return None

    def _of_function(
        self, maker: "FunctionType", call: "Expression", scope: NameScope, nested: int
    ) -> "bool | str | None":
        (module, name) = named(maker)
        rule = known.FACTORIES.get((module, name))
        if rule is not None:
            return self._by_rule(rule, self._first_argument(call, scope))
        if module == "contextlib" and name.endswith("contextmanager.<locals>.helper"):
            generator = NameScope(None, maker).value(("deref", "func"))
            return self._of_generator_function(generator)
        inner = NameScope(None, maker)
        answers = [self._of_expression(result, inner, nested + 1) for result in readings.of(maker.__code__).returned()]
        return answers[0] if answers and answers.count(answers[0]) == len(answers) else None

    def _of_new(self, kind: type, call: "Expression", scope: NameScope) -> "bool | str | None":
        """Judge an instance of a class that the statement makes, if calling the class makes one."""
        if in_class(type(kind), "__call__") is not type.__dict__["__call__"]:
            return None
        if type(in_class(kind, "__new__")) is staticmethod:
            return None
        rule = self._exit_rule(kind)
        if call[2] is None or call[3]:
            return self._by_rule(rule, MISSING)
        types = [scope.value(argument) for argument in call[2]]
        if rule == known.SUPPRESSES_PARTS:
            return self._by_rule(rule, tuple(types) if _takes_types(kind) else MISSING)
        return self._by_rule(rule, types[0] if types else MISSING)

    def _of_object(self, made: "Any", nested: int) -> "bool | str | None":
        """Judge a manager that was made before."""
        rule = self._exit_rule(type(made))
        if rule == known.GENERATOR:
            return self._of_generator(attribute(made, "gen"))
        if rule == known.STACK:
            return self._of_stack(made, nested)
        if rule == known.SUPPRESSES_GIVEN or rule == known.SUPPRESSES_PARTS:
            for name in known.ARGUMENTS:
                types = attribute(made, name)
                if types is not MISSING:
                    return self._by_rule(rule, types)
        return self._by_rule(rule, MISSING)

    def _exit_rule(self, kind: type) -> "bool | str | None":
        """Return what is known of the function that ends the block."""
        function = in_class(kind, self.exit_name)
        if type(function) is not _Function:
            owner = owner_in_class(kind, self.exit_name)
            if owner is None or type(function) in (property, staticmethod, classmethod):
                return None
            return False if in_c(owner) else None
        rule = known.EXITS.get(named(function))
        return rule if rule is not None else constant_result(function.__code__)

    def _by_rule(self, rule: "bool | str | None", types: "Any") -> "bool | str | None":
        if rule == known.SUPPRESSES_GIVEN:
            return matches(types, self._thrown.classes)
        if rule == known.SUPPRESSES_PARTS:
            return self._thrown.share(lambda classes: matches(types, classes))
        if rule == known.PASSES:
            return False
        if rule == known.CANCELS:
            return None if any([_name_of(base).startswith("Cancel") for base in self._thrown.classes]) else False
        return rule

    def _first_argument(self, call: "Expression", scope: NameScope) -> "Any":
        arguments = call[2]
        plain = arguments and len(arguments) > len(call[3])
        return scope.value(arguments[0]) if plain else MISSING

    def _of_generator_function(self, function: "Any") -> "bool | str | None":
        """Judge a generator that is suspended at one of its yields: all must do the same."""
        if type(function) is not _Function:
            return None
        rule = known.FACTORIES.get(named(function))
        if rule is not None:
            return self._by_rule(rule, MISSING)
        reading = readings.of(function.__code__)
        scope = NameScope(None, function)
        answers = [self._at(reading, offset, None, scope) for offset in reading.yields()]
        return answers[0] if answers and answers.count(answers[0]) == len(answers) else None

    def _of_generator(self, generator: "Any") -> "bool | str | None":
        """Judge a generator where it is suspended."""
        if type(generator) is not _Generator or generator.gi_frame is None:
            return None
        frame = generator.gi_frame
        return self._at(readings.of(frame.f_code), frame.f_lasti, frame, None)

    def _at(
        self, reading: readings.CodeReading, offset: int, frame: "FrameType | None", scope: NameScope | None
    ) -> bool | None:
        plan = reading.plans.get(offset) or reading.plan(offset)
        thrown = ThrownException(self._thrown.exception, self._thrown.classes)
        result = self._settle(plan, frame, thrown, scope)[0]
        return None if result == handlers.DOUBT else result == handlers.CAUGHT

    def _of_stack(self, stack: "Any", nested: int) -> "bool | str | None":
        """Judge an exit stack by the managers that it has entered so far, the last one first."""
        callbacks = attribute(stack, "_exit_callbacks")
        if nested > MOST_NESTED or type(in_class(type(callbacks), "__iter__")) is not _Slot:
            return None
        for synchronous, callback in reversed(tuple(callbacks)):
            answer = None
            if type(callback) is _BoundMethod:
                answer = self._of_entered(callback, "__exit__" if synchronous is True else "__aexit__", nested)
            elif type(callback) is _Function:
                answer = constant_result(callback.__code__)
            if answer is not False:
                return answer
        return False

    def _of_entered(self, callback: "MethodType", exit_name: str, nested: int) -> "bool | str | None":
        """Judge a manager in an exit stack, which keeps the method that ends it."""
        manager = callback.__self__
        if callback.__func__ is not in_class(type(manager), exit_name):
            return None
        return ManagerQuestion(exit_name, self._thrown, self._settle)._of_object(manager, nested + 1)


def _takes_types(kind: type) -> bool:
    """Return whether a class takes the types as separate arguments."""
    function = in_class(kind, "__init__")
    return type(function) is _Function and named(function) == ("contextlib", "suppress.__init__")


def constant_result(code: "CodeType") -> bool | None:
    """Return whether what a function returns is always true or always false; None if it is not constant."""
    if code.co_flags & 0x20:
        return None  # a generator
    answers = []
    for result in readings.of(code).returned():
        if result is None or result[0] != "const":
            return None
        answers.append(bool(result[1]))
    return answers[0] if answers and answers.count(answers[0]) == len(answers) else None
