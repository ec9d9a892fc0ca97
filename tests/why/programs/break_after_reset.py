"""Retry with backoff: an exception type not caught makes it give up early."""


class Gateway:
    def __init__(self, answers):
        self.answers = iter(answers)
        self.calls = 0

    def fetch(self):
        self.calls += 1
        answer = next(self.answers)
        if answer == "timeout":
            raise TimeoutError("no answer")
        if answer == "reset":
            raise ConnectionResetError("peer")
        return answer


class Client:
    def __init__(self, gateway, retries=3):
        self.gateway = gateway
        self.retries = retries
        self.last_error = None

    def get(self, default=None):
        for attempt in range(self.retries):
            try:
                return self.gateway.fetch()
            except TimeoutError as error:
                self.last_error = str(error)
            except OSError as error:
                self.last_error = str(error)
                break                      # CAUSE
        return default


def load(gateway):
    client = Client(gateway)
    value = client.get("stale")
    return value, client.last_error


value, error = load(Gateway(["timeout", "reset", "fresh"]))
print(value, error)
assert value == "fresh"
