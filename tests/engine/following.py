"""Run programs whose texts come as lines of JSON on standard input, and answer how each exception was judged.

A program is run in a thread of its own, so that an exception that it does not catch ends at a runner. The answer has a
list of [verdict, description] for each program.
"""

import json
import sys
import threading
from typing import Any

from tests.engine.oracle import Oracle


def followed(text: str) -> list[tuple[str, str]]:
    """Return how each exception of a program was judged, with a description."""
    namespace: dict[str, Any] = {"__name__": "program"}
    exec(compile(text, "<program>", "exec"), namespace)
    thread = threading.Thread(target=namespace["main"])
    oracle = Oracle()
    with oracle:
        thread.start()
        thread.join()
    return [(episode.verdict, str(episode)) for episode in oracle.episodes if episode.code.co_filename == "<program>"]


def main() -> None:
    threading.excepthook = lambda _: None
    for line in sys.stdin:
        sys.stdout.write(json.dumps(followed(json.loads(line))) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
