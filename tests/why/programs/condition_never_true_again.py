# ask: outcome.state
"""Deliver a message, trying again where the server says that it is busy."""

from dataclasses import dataclass, field

RETRY = {429, 503}


@dataclass
class Outcome:
    state: str = "unknown"
    tries: int = 0
    waited: float = 0.0
    seen: list = field(default_factory=list)


class Server:
    def __init__(self, *answers):
        self.answers = list(answers)
        self.bodies = []

    def post(self, body):
        self.bodies.append(body)
        return self.answers.pop(0) if self.answers else "HTTP/1.1 500 Oops"


def status(answer):
    protocol, code, reason = answer.split(" ", 2)
    return code, reason  # CAUSE


def deliver(server, body, limit=4):
    outcome = Outcome()
    for attempt in range(limit):
        code, reason = status(server.post(body))
        outcome.tries += 1
        outcome.seen.append(reason)
        if code in RETRY:  # CAUSE
            outcome.waited += 0.5 * 2**attempt
            continue
        outcome.state = "delivered" if str(code).startswith("2") else "refused"
        break
    return outcome


server = Server("HTTP/1.1 503 Busy", "HTTP/1.1 429 Too many", "HTTP/1.1 202 Accepted")
outcome = deliver(server, b'{"text": "hi"}')
print(outcome.seen, len(server.bodies))
