"""`FAULTS`: everything that a debug adapter can do wrong, by name, to be tried one after the other.

for fault in FAULTS:
    adapter = FakeAdapter()
    fault.spoil(adapter, "next")        # from now on, or at its answer to `next`
"""

from msgspec import Struct

from trio_debugmcp.testing.fake_adapter import FakeAdapter
from trio_debugmcp.testing.faults import garbage
from trio_debugmcp.testing.faults.adapters import (
    Spoil,
    answering,
    at_once,
    before_answering,
    complaining,
    crashing_at_message,
    hesitating,
    in_lumps,
    refusing,
    saying,
)
from trio_debugmcp.testing.faults.messages import answers, changed, events, everything, never, reordered, twice
from trio_debugmcp.testing.faults.streams import Cutting, Stalling, Trickling

BELATED_SECONDS = 1.0
"""An answer that comes within every tool's patience."""

HOPELESS_SECONDS = 45.0
"""An answer that comes when nobody waits for it any more."""


class Fault(Struct, frozen=True):
    """One way to go wrong. `spoil` makes an adapter do so from now on, or at its answer to a command."""

    name: str
    description: str
    spoil: Spoil


async def _exit_and_stay(adapter: FakeAdapter) -> None:
    await adapter.event("exited", {"exitCode": 3})
    adapter.twist(never(answers()))


async def _terminate(adapter: FakeAdapter) -> None:
    await adapter.event("terminated")


async def _exit(adapter: FakeAdapter) -> None:
    await adapter.exit(3)


async def _initialize_again(adapter: FakeAdapter) -> None:
    await adapter.event("initialized")


def _go_deaf(adapter: FakeAdapter) -> None:
    adapter.deaf = True


FAULTS = (
    # Legal, if unusual.
    Fault("trickles", "every byte comes by itself", at_once(lambda a: a.wrap(Trickling))),
    Fault("comes in lumps", "many messages come in one piece", in_lumps),
    Fault(
        "reorders",
        "events overtake answers, and news of threads comes after stops",
        at_once(lambda a: a.twist(reordered)),
    ),
    Fault(
        "numbers nothing",
        "`seq` is 0 in every message",
        at_once(lambda a: a.twist(changed(everything, seq=0))),
    ),
    Fault("answers late", "the answer takes a second", hesitating(BELATED_SECONDS)),
    Fault("initializes again", "`initialized` comes a second time", before_answering(_initialize_again)),
    # Answers.
    Fault("answers twice", "every answer comes twice", at_once(lambda a: a.twist(twice(answers())))),
    Fault("repeats events", "every event comes twice", at_once(lambda a: a.twist(twice(events)))),
    Fault("answers nobody", "an answer to a request that was never made", saying(garbage.ANSWER_TO_NOBODY)),
    Fault("answers nothing", "the body of the answer is empty", answering({})),
    Fault("answers null", "the body of the answer is `null`", answering(None)),
    Fault(
        "answers nonsense",
        "the members of the answer have the wrong types",
        answering(
            {
                "supportsConfigurationDoneRequest": "perhaps",
                "breakpoints": 7,
                "variables": "none",
                "result": [],
                "threads": {},
                "stackFrames": 1,
            }
        ),
    ),
    Fault("never answers", "the request is taken and never answered", lambda a, command: a.withhold(command)),
    Fault(
        "does and never answers",
        "what was asked for is done, but no answer comes",
        lambda a, command: a.twist(never(answers(command))),
    ),
    Fault("answers too late", "the answer comes when nobody waits any more", hesitating(HOPELESS_SECONDS)),
    Fault("goes deaf", "it reads nothing any more", at_once(_go_deaf)),
    Fault("refuses", "it answers that it cannot, and why", refusing("the moon is in the wrong phase")),
    Fault("refuses wordlessly", "it answers that it cannot, without a reason", refusing("")),
    # Garbage.
    Fault("body empty", "a frame without a body", saying(garbage.BODY_EMPTY)),
    Fault(
        "no framing", "text where a header should be, as of a program that is no adapter", saying(garbage.NOT_AT_ALL)
    ),
    Fault("no length", "a header without `Content-Length`", saying(garbage.NO_LENGTH)),
    Fault("length no number", "a `Content-Length` that is no number", saying(garbage.LENGTH_NO_NUMBER)),
    Fault("length huge", "a `Content-Length` of 99999999999999", saying(garbage.LENGTH_HUGE)),
    Fault("header endless", "a header without end", saying(garbage.HEADER_ENDLESS)),
    Fault("no JSON", "a body that is not JSON", saying(garbage.NO_JSON)),
    Fault("no UTF-8", "output that is not UTF-8", saying(garbage.NO_UTF_8)),
    Fault("half a character", "output with one half of a surrogate pair", saying(garbage.HALF_A_CHARACTER)),
    Fault("nested endlessly", "JSON that is nested 100,000 deep", saying(garbage.NESTED)),
    Fault("no object", "a message that is a list", saying(garbage.NO_OBJECT)),
    Fault("no type", "a message without `type`", saying(garbage.NO_TYPE)),
    Fault("unknown type", "a message of an unknown `type`", saying(garbage.UNKNOWN_TYPE)),
    Fault("wrong types", "an answer whose members have the wrong types", saying(garbage.WRONG_TYPES)),
    Fault(
        "event bodies wrong",
        "known events with bodies that are not theirs, and unknown ones",
        saying(garbage.BODIES_WRONG),
    ),
    Fault("capabilities wrong", "a `capabilities` event with the wrong types", saying(garbage.CAPABILITIES_WRONG)),
    Fault("numbers huge", "ids that fit no machine word", saying(garbage.NUMBERS_HUGE)),
    Fault("unknown request", "a reverse request that nobody knows", saying(garbage.UNKNOWN_REQUEST)),
    Fault("senseless requests", "reverse requests without what they need", saying(garbage.SENSELESS_REQUESTS)),
    # Ends.
    Fault(
        "cut in a message", "the connection breaks off in the middle of a message", at_once(lambda a: a.wrap(Cutting))
    ),
    Fault("stalls in a message", "half of a message comes, and then nothing", at_once(lambda a: a.wrap(Stalling))),
    Fault("crashes", "the connection breaks off instead of the answer", before_answering(FakeAdapter.crash)),
    Fault(
        "crashes at message 2",
        "the connection breaks off instead of the second message from now",
        crashing_at_message(2),
    ),
    Fault("complains and exits", "it writes to standard error, and exits", complaining("fatal: out of file handles\n")),
    Fault("goes mute", "its half of the connection ends, but it listens", before_answering(FakeAdapter.mute)),
    Fault("program exits", "the program ends, and then the answer comes", before_answering(_exit)),
    Fault("only terminated", "`terminated` comes without `exited`, and then the answer", before_answering(_terminate)),
    Fault("only exited", "`exited` comes, and then nothing more", before_answering(_exit_and_stay)),
)
