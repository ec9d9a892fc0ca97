"""`scripts/fuzz`: the functions of tests/fuzz/targets.py under atheris, one process for each."""

import argparse
import importlib.util
import random
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FINDINGS = ROOT / ".fuzz"

TARGETS = ("framing", "dap", "adapter", "caller", "probe", "mcp", "uri", "named", "head")

MAX_BYTES = 4096
"""Size of one input. The bounds for longer ones have tests of their own."""

HANG_SECONDS = 20
"""Real time for one input; the slowest valid one takes a few tenths of a second."""


def main() -> int:
    """Run the targets; return the exit code, 1 if any of them has a finding."""
    parser = argparse.ArgumentParser(prog="scripts/fuzz")
    parser.add_argument("target", nargs="?", choices=TARGETS, help="default: all of them, one after the other")
    parser.add_argument("file", nargs="?", type=Path, help="run the target on this input, once")
    parser.add_argument(
        "--seconds", type=int, default=60, help="for each target, without atheris for all together (default 60)"
    )
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    sys.path.insert(0, str(ROOT))
    if asked.file is not None:
        from tests.fuzz.targets import TARGETS as FUNCTIONS

        FUNCTIONS[asked.target](asked.file.read_bytes())
        return 0
    if asked.here:
        fuzz(asked.target, asked.seconds)
    targets = [asked.target] if asked.target else TARGETS
    if importlib.util.find_spec("atheris") is None:
        return by_hypothesis(asked.seconds)
    found = [target for target in targets if not passes(target, asked.seconds)]
    for target in found:
        print(f"{target}: a finding; see above, and .fuzz/{target}")
    return 1 if found else 0


def by_hypothesis(seconds: int) -> int:
    """Run the tests that generate inputs, with others in each round, until the time is over or something is found."""
    begin, rounds = time.monotonic(), 0
    while True:
        words = ["-q", "--hypothesis-profile", "round", f"--hypothesis-seed={random.getrandbits(32)}", "tests/fuzz"]
        code = subprocess.call([sys.executable, "-m", "pytest", *words], cwd=ROOT)
        took, rounds = time.monotonic() - begin, rounds + 1
        if code or took >= seconds:
            outcome = "a finding in the last" if code else "no finding"
            print(f"all by hypothesis: {rounds} rounds in {took:.0f} s, {outcome}")
            return code


def passes(target: str, seconds: int) -> bool:
    """Fuzz in another process, because libFuzzer ends the one in which it runs."""
    words = [sys.executable, __file__, target, "--seconds", str(seconds), "--here"]
    done = subprocess.run(words, cwd=ROOT, stderr=subprocess.PIPE, text=True, check=False)
    lines = done.stderr.splitlines()
    summary = [line for line in lines if line.startswith("Done ")]
    print(f"{target}: {summary[-1] if done.returncode == 0 and summary else done.stderr}", flush=True)
    return done.returncode == 0


def fuzz(target: str, seconds: int) -> None:
    """Fuzz until the time is over or something is found; does not return."""
    import atheris  # type: ignore[import-untyped]

    with atheris.instrument_imports(include=["trio_debugmcp"]):
        from tests.fuzz import targets
    corpus = FINDINGS / target / "corpus"
    corpus.mkdir(parents=True, exist_ok=True)
    for number, seed in enumerate(targets.seeds(target)):
        (corpus / f"seed-{number}").write_bytes(seed)
    options = [
        f"-max_total_time={seconds}", f"-max_len={MAX_BYTES}", f"-timeout={HANG_SECONDS}", "-rss_limit_mb=2048",
        f"-artifact_prefix={FINDINGS / target}/", "-print_final_stats=0",
    ]  # fmt: skip
    atheris.Setup([sys.argv[0], *options, str(corpus)], targets.TARGETS[target])
    atheris.Fuzz()


if __name__ == "__main__":
    sys.exit(main())
