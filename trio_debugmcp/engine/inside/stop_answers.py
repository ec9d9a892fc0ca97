"""`StopAnswers`: the event of a stop, which has the answer to what the debugger asks at stops, once it has asked.

    answers.ask("stop", {"frames": 20})     # asked with `atStops`
    answers.announce(stop)

So the debugger knows all that it shows of a stop as soon as it knows of the stop. It is our thread that answers, as it
does where it is asked: no signal handler of the program runs in that one. The event goes without an answer while it is
busy, and where other threads may still move: the debugger asks a little later, when those are held that can be.
"""

from typing import Any

from trio_debugmcp.engine.inside.door_connection import JsonText
from trio_debugmcp.engine.inside.held_threads import ThreadStop
from trio_debugmcp.probe.inside.encoding import encoded


class StopAnswers:
    """What is asked at each stop, and the events of the stops."""

    def __init__(self, engine: Any) -> None:
        self._engine = engine
        self._question = ""
        self._parameters: dict[str, Any] = {}

    def ask(self, question: str, parameters: dict[str, Any]) -> None:
        """Answer a question from now on at each stop; it is about the thread that has stopped."""
        self._question, self._parameters = question, parameters

    def announce(self, stop: ThreadStop) -> None:
        """Send the event of a stop. At an exception the debugger asks for other things."""
        is_asked = bool(self._question) and stop.exception is None
        if not (is_asked and self._engine.reader.run(lambda: self._announce_answered(stop))):
            self._engine.event("stopped", stop.body)

    def _announce_answered(self, stop: ThreadStop) -> None:
        from trio_debugmcp.probe.inside import questions  # loaded by now: a question was answered

        if not self._engine.threads.are_all_held():
            self._engine.event("stopped", stop.body)
            return
        parameters = {**self._parameters, "thread": stop.record.id}
        answer = questions.call(self._question, encoded(parameters))
        self._engine.event("stopped", JsonText(f'{encoded(stop.body)[:-1]}, "answer": {answer}}}'))
