"""Values that only code of the program can tell: asked for one by one where the answer with all of them was of no use.

    shown = await values_apart(ways.probe, place, found.variables, failure)
    unknown = unknown_value(shown, failure)         # what stands for those that stay withheld

A value is withheld where the probe was not to run code of the program.
"""

from collections.abc import Sequence

import trio
from msgspec.structs import replace

from trio_debugmcp.probe.answers import ProbeVariable, ProbeVariables
from trio_debugmcp.session.looking.by_probe.program_probe import ProgramProbe
from trio_debugmcp.session.looking.from_outside.silence import Unanswered
from trio_debugmcp.session.looking.variables import FramePlace, VariablesQuestion
from trio_debugmcp.state.payloads import MAX_VALUE_LENGTH, shortened

MAX_APART = 20
"""Values that are asked for one by one, where the answer with all of them was of no use."""

APART_SECONDS = 2.0
"""Until the values that are not known by then are given up: a client waits for the answer."""

_UNKNOWN = "<repr took over 0.5 s>"

_ONE_IS_SLOW = "<no repr: one of these values took over 0.5 s>"


async def values_apart(
    probe: ProgramProbe, place: FramePlace, variables: tuple[ProbeVariable, ...], failure: Unanswered
) -> tuple[ProbeVariable, ...]:
    """Return variables with the values that were withheld, each asked for by itself: what spoils one, spoils no other.

    `failure` is how the question for all of them failed; if that is slow, none is asked for. Bounded in number and
    time; those beyond stay withheld.
    """
    shown = list(variables)
    wanted = [index for index, variable in enumerate(shown) if variable.withheld and variable.path != ""]
    if failure.is_slow:
        return variables
    with trio.move_on_after(probe.patience.seconds(APART_SECONDS)):
        for index in wanted[:MAX_APART]:
            variable = shown[index]
            question = VariablesQuestion(path=variable.path or variable.name, count=0)
            found = await probe.attempt("variables", ProbeVariables, types=True, code=True, **question.at(place))
            if not isinstance(found, Unanswered):
                value = found.value
            elif found.is_slow:
                shown[index] = replace(variable, value=unknown_value([variable]), withheld=False)
                break
            else:
                value = failed_value(found)
            if value is not None:
                shown[index] = replace(variable, value=value, withheld=False)
    return tuple(shown)


def has_withheld(variables: tuple[ProbeVariable, ...]) -> bool:
    """Return whether one of them lacks what only code of the program knows."""
    return any(variable.withheld or variable.name_withheld or has_withheld(variable.children) for variable in variables)


def failed_value(failure: Unanswered) -> str:
    """Return what stands for a value that the probe could not tell, for another reason than that it took long."""
    return shortened(f"<not shown: {failure.text}>", MAX_VALUE_LENGTH)


def unknown_value(values: Sequence[ProbeVariable], failure: Unanswered | None = None) -> str:
    """Return what stands for the values that were withheld, and are not known because the probe did not answer."""
    if failure is not None and not failure.is_slow:
        return failed_value(failure)
    return _UNKNOWN if sum(value.withheld for value in values) <= 1 else _ONE_IS_SLOW
