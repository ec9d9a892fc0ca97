"""`StopAnswers`: the event of a stop, which has the answer to what the debugger asks at stops, once it has asked.

    answers.ask("stop", {"frames": 20})     # asked with `atStops`
    answers.announce(stop)

So the debugger knows all that it shows of a stop as soon as it knows of the stop. It is our thread that answers, as it
does where it is asked: no signal handler of the program runs in that one. The event goes without an answer while it is
busy, and where other threads may still move: the debugger asks a little later, when those are held that can be.
"""

from typing import Any, Callable

from trio_debugmcp.engine.inside.door_connection import JsonText
from trio_debugmcp.engine.inside.held_threads import ThreadStop
from trio_debugmcp.probe.inside.debugger.seam import RECORD_BYTES
from trio_debugmcp.probe.inside.encoding import encoded

_AT_END = "while the interpreter ends: nothing stops there, as no other thread runs any more"

_IN_SEND = "in the midst of a message to the debugger: nothing stops there"
"""As a signal handler may, or a destructor."""

_WORKS = "A breakpoint with a log_message works."

_MOST_MISSED = 20
"""Places of which that is said."""


class StopAnswers:
    """What is asked at each stop, and the events of the stops.

    Attributes:
        record_bytes: how much was written over the connection for records, which may arrive later than the event.
    """

    def __init__(self, engine: Any) -> None:
        self._engine = engine
        self._question = ""
        self._parameters: dict[str, Any] = {}
        self._missed: set[tuple[str, int]] = set()
        self.record_bytes: Callable[[], int] = lambda: 0

    def ask(self, question: str, parameters: dict[str, Any]) -> None:
        """Answer a question from now on at each stop; it is about the thread that has stopped."""
        self._question, self._parameters = question, parameters

    def announce(self, stop: ThreadStop) -> None:
        """Send the event of a stop, once, also if a signal has interrupted this and it is called again.

        At an exception the debugger asks for other things.
        """
        reader = self._engine.reader
        if stop.is_answered is None:
            stop.is_answered = bool(self._question) and stop.exception is None and reader.is_free
        if stop.is_answered:
            reader.run(lambda: self._announce_answered(stop))
        elif not stop.sent:
            self.send(stop.body, sent=stop.sent)

    def send(self, body: dict[str, Any], answer: str = "", sent: list[bool] | None = None) -> None:
        """Send an event of a stop, maybe with an answer in JSON. `sent`: as of `DoorConnection.send`."""
        size = self.record_bytes()
        whole = {**body, RECORD_BYTES: size} if size else body
        text = JsonText(f'{encoded(whole)[:-1]}, "answer": {answer}}}') if answer else whole
        self._engine.event("stopped", text, sent)

    def miss(self, stop: ThreadStop) -> None:
        """Say of a place, once, that nothing stops there."""
        code, line = stop.frame.f_code, stop.frame.f_lineno
        place = code.co_filename, line
        if stop.body["reason"] == "step" or place in self._missed or len(self._missed) >= _MOST_MISSED:
            return
        self._missed.add(place)
        file = self._engine.files.shown(code.co_filename)
        reason = _IN_SEND if self._engine.connection.is_sending(stop.record.ident) else _AT_END
        text = f"{file}:{line} in {code.co_name} runs {reason}. {_WORKS}\n"
        self._engine.event("output", {"category": "console", "output": text})

    def _announce_answered(self, stop: ThreadStop) -> None:
        from trio_debugmcp.probe.inside import questions  # loaded by now: a question was answered

        if stop.sent:
            return
        stop.sent.append(True)
        if not self._engine.threads.are_all_held():
            self.send(stop.body)
            return
        parameters = {**self._parameters, "thread": stop.record.id}
        self.send(stop.body, questions.call(self._question, encoded(parameters)))
