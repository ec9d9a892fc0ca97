"""What becomes of a stop that has been examined: it is published, or left by a command that no client has given. Pure.

    verdict = verdict_of(facts)
    if verdict.command is None:
        ...                         # published, as `facts.stopped`
    else:
        ...                         # left; where that does not succeed, `instead(facts)` is published

No client sees a stop that is left.
"""

from msgspec import Struct
from msgspec.structs import replace

from trio_debugmcp.dap.messages import Stopped
from trio_debugmcp.session.looking.stop_questions import Findings
from trio_debugmcp.session.stops.unfinished_step import CUT_SHORT, UnfinishedStep


class StopFacts(Struct, frozen=True):
    """What decides about a stop.

    Attributes:
        stopped: with the reason that it has for the user.
        counts: a client has asked for it, or for all of its kind.
        further: the command that leaves a stop which does not count, where no step is under way.
        stepping: a step is under way; `step`: what is known of it.
        observed: only a run that observes places has wanted it.
        pausing: a client has asked for a pause, so that the program is to stay.
    """

    stopped: Stopped
    found: Findings
    counts: bool
    further: str = "continue"
    stepping: bool = False
    step: UnfinishedStep | None = None
    observed: bool = False
    pausing: bool = False


class Verdict(Struct, frozen=True):
    """What is done: the `command` that leaves the stop, None to publish it; and the step as it is from then on."""

    command: str | None = None
    step: UnfinishedStep | None = None


def verdict_of(facts: StopFacts) -> Verdict:
    """Return what is done at a stop. A step is taken to its end by further steps, where it is cut short."""
    if facts.observed:
        return Verdict("continue", facts.step)
    if not facts.stepping:
        return Verdict(None if facts.counts else facts.further, facts.step)
    step = facts.step
    if step is None or (facts.counts and not (step.is_cut and facts.stopped.reason == "step")):
        return Verdict(None, step)
    return Verdict(step.next_command(facts.found), replace(step, is_cut=True))


def instead(facts: StopFacts) -> tuple[Stopped, str | None]:
    """Return what is published of a stop that was to be left and was not, and what explains it."""
    thread_id = facts.found.thread_id
    if facts.pausing or not facts.stepping:
        return Stopped(reason="pause", thread_id=thread_id), None
    known = facts.step is None or facts.step.knows(facts.found)
    return Stopped(reason="step", thread_id=thread_id), None if known else CUT_SHORT
