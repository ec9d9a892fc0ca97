"""`FAULTS`: everything that a debug adapter can do wrong, by name, to be tried one after the other.

Example:
    for fault in FAULTS:
        adapter = FakeAdapter()
        fault.inject(adapter, "next")        # from now on, or at its answer to `next`
"""

from msgspec import Struct

from trio_debugmcp.testing.fake_adapter import FakeAdapter
from trio_debugmcp.testing.faults import garbage
from trio_debugmcp.testing.faults.faulty_adapters import (
    Inject,
    answering,
    at_once,
    before_answering,
    complaining,
    crashing_at_message,
    hesitating,
    in_lumps,
    refusing,
    sending,
)
from trio_debugmcp.testing.faults.faulty_messages import answers, changed, events, everything, never, reordered, twice
from trio_debugmcp.testing.faults.faulty_streams import Cutting, Stalling, Trickling

BELATED_SECONDS = 1.0
"""An answer that arrives before any tool times out."""

HOPELESS_SECONDS = 45.0
"""An answer that arrives after every tool has timed out."""


class Fault(Struct, frozen=True):
    """One way to go wrong. `inject` makes an adapter do so from now on, or at its answer to a command."""

    name: str
    description: str
    inject: Inject


async def _exit_and_stay(adapter: FakeAdapter) -> None:
    await adapter.event("exited", {"exitCode": 3})
    adapter.connection.twist(never(answers()))


async def _terminate(adapter: FakeAdapter) -> None:
    await adapter.event("terminated")


async def _exit(adapter: FakeAdapter) -> None:
    await adapter.exit(3)


async def _initialize_again(adapter: FakeAdapter) -> None:
    await adapter.event("initialized")


def _go_deaf(adapter: FakeAdapter) -> None:
    adapter.connection.deaf = True


FAULTS = (
    # Legal, if unusual.
    Fault("trickles", "every byte arrives by itself", at_once(lambda a: a.connection.wrap(Trickling))),
    Fault("comes in lumps", "many messages arrive in one piece", in_lumps),
    Fault(
        "reorders",
        "events overtake responses, and thread events arrive after stops",
        at_once(lambda a: a.connection.twist(reordered)),
    ),
    Fault(
        "numbers nothing",
        "`seq` is 0 in every message",
        at_once(lambda a: a.connection.twist(changed(everything, seq=0))),
    ),
    Fault("answers late", "the response takes a second", hesitating(BELATED_SECONDS)),
    Fault("initializes again", "`initialized` is sent a second time", before_answering(_initialize_again)),
    # Answers.
    Fault("answers twice", "every response is sent twice", at_once(lambda a: a.connection.twist(twice(answers())))),
    Fault("repeats events", "every event is sent twice", at_once(lambda a: a.connection.twist(twice(events)))),
    Fault("answers no request", "a response to a request that was never made", sending(garbage.RESPONSE_TO_NO_REQUEST)),
    Fault("answers nothing", "the body of the response is empty", answering({})),
    Fault("answers null", "the body of the response is `null`", answering(None)),
    Fault(
        "answers nonsense",
        "the members of the response have the wrong types",
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
    Fault("never answers", "the request is read and never answered", lambda a, command: a.withhold(command)),
    Fault(
        "does and never answers",
        "the request is carried out, but no response is sent",
        lambda a, command: a.connection.twist(never(answers(command))),
    ),
    Fault("answers too late", "the response arrives after the request has timed out", hesitating(HOPELESS_SECONDS)),
    Fault("goes deaf", "the adapter stops reading", at_once(_go_deaf)),
    Fault("refuses", "the request fails, with a reason", refusing("the moon is in the wrong phase")),
    Fault("refuses wordlessly", "the request fails, without a reason", refusing("")),
    # Garbage.
    Fault("body empty", "a frame without a body", sending(garbage.BODY_EMPTY)),
    Fault(
        "no framing",
        "text where a header should be, as from a program that is not an adapter",
        sending(garbage.NOT_AT_ALL),
    ),
    Fault("no length", "a header without `Content-Length`", sending(garbage.NO_LENGTH)),
    Fault("length no number", "a `Content-Length` that is not a number", sending(garbage.LENGTH_NO_NUMBER)),
    Fault("length huge", "a `Content-Length` of 99999999999999", sending(garbage.LENGTH_HUGE)),
    Fault("header endless", "a header without end", sending(garbage.HEADER_ENDLESS)),
    Fault("no JSON", "a body that is not JSON", sending(garbage.NO_JSON)),
    Fault("no UTF-8", "output that is not UTF-8", sending(garbage.NO_UTF_8)),
    Fault("half a character", "output with one half of a surrogate pair", sending(garbage.HALF_A_CHARACTER)),
    Fault("nested endlessly", "JSON that is nested 100,000 deep", sending(garbage.NESTED)),
    Fault("no object", "a message that is a list", sending(garbage.NO_OBJECT)),
    Fault("no type", "a message without `type`", sending(garbage.NO_TYPE)),
    Fault("unknown type", "a message of an unknown `type`", sending(garbage.UNKNOWN_TYPE)),
    Fault("wrong types", "a response whose members have the wrong types", sending(garbage.WRONG_TYPES)),
    Fault(
        "event bodies wrong",
        "known events with the bodies of other events, and unknown events",
        sending(garbage.BODIES_WRONG),
    ),
    Fault("capabilities wrong", "a `capabilities` event with the wrong types", sending(garbage.CAPABILITIES_WRONG)),
    Fault("numbers huge", "ids too large for a machine word", sending(garbage.NUMBERS_HUGE)),
    Fault("unknown request", "a reverse request with an unknown command", sending(garbage.UNKNOWN_REQUEST)),
    Fault(
        "senseless requests", "reverse requests without the arguments they need", sending(garbage.SENSELESS_REQUESTS)
    ),
    # Ends.
    Fault(
        "cut in a message",
        "the connection breaks off in the middle of a message",
        at_once(lambda a: a.connection.wrap(Cutting)),
    ),
    Fault(
        "stalls in a message",
        "half of a message is sent, and then nothing",
        at_once(lambda a: a.connection.wrap(Stalling)),
    ),
    Fault("crashes", "the connection breaks off instead of the response", before_answering(FakeAdapter.crash)),
    Fault(
        "crashes at message 2",
        "the connection breaks off instead of the second message from now",
        crashing_at_message(2),
    ),
    Fault(
        "complains and exits",
        "the adapter writes to standard error and exits",
        complaining("fatal: out of file handles\n"),
    ),
    Fault(
        "goes mute",
        "the adapter closes its half of the connection, and keeps reading",
        before_answering(lambda a: a.connection.mute()),
    ),
    Fault("program exits", "the program ends, and then the response is sent", before_answering(_exit)),
    Fault(
        "only terminated", "`terminated` is sent without `exited`, and then the response", before_answering(_terminate)
    ),
    Fault("only exited", "`exited` is sent, and then nothing more", before_answering(_exit_and_stay)),
)
