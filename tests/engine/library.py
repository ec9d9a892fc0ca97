"""Run a test module of CPython, or an import statement, under the oracle, and print a summary as a line of JSON."""

import io
import json
import sys
import unittest
from collections import Counter
from typing import Any

from tests.engine.oracle import CAUGHT, Episode, Oracle

SHOWN = 5
"""Wrong verdicts that are described."""


def run(subject: str) -> list[Episode]:
    """Return the episodes of a test module, or of an import statement."""
    oracle = Oracle()
    kept = (sys.stdout, sys.stderr)
    (sys.stdout, sys.stderr) = (io.StringIO(), io.StringIO())
    try:
        with oracle:
            if subject.startswith("import "):
                exec(subject)
            else:
                tests = unittest.defaultTestLoader.loadTestsFromName(subject)
                unittest.TextTestRunner(stream=io.StringIO()).run(tests)
    finally:
        (sys.stdout, sys.stderr) = kept
    return oracle.episodes


def quantile(times: list[int], share: float) -> float:
    """Return microseconds."""
    return sorted(times)[min(len(times) - 1, int(len(times) * share))] / 1000 if times else 0.0


def summary(subject: str) -> dict[str, Any]:
    episodes = run(subject)
    near = [
        each.warm
        for each in episodes
        if each.state == CAUGHT and 0 <= each.place <= 1 and each.how in ("except", "with")
    ]
    bad = [str(each) for each in episodes if each.verdict in ("wrong", "misplaced")]
    return {
        "subject": subject,
        "verdicts": Counter(each.verdict for each in episodes),
        "outcomes": Counter(f"{each.outcome} {each.how or each.runner or ''}".strip() for each in episodes),
        "reasons": Counter(str(each.reason) for each in episodes if each.verdict == "unknown"),
        "near": [len(near), quantile(near, 0.5), quantile(near, 0.99)],
        "all": [quantile([each.warm for each in episodes], share) for share in (0.5, 0.99)],
        "first": [sum(each.cold for each in episodes) / 1000 / max(1, len(episodes))],
        "bad": bad[:SHOWN],
    }


if __name__ == "__main__":
    print(json.dumps(summary(sys.argv[1])), flush=True)
