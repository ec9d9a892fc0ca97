"""The answers of the tools about recorded runs, byte for byte: each has a file in tests/data/answers/runs.

To renew the files after a change of the answers, and then to read what `git diff` says of it:

    RENEW_ANSWERS=1 python -m pytest tests/real/test_run_answers.py

What differs from run to run, directories, processes and sizes, is replaced.
"""

import json
import os
import re
from pathlib import Path
from typing import Any

from tests.real.conftest import Connect
from tests.real.test_recorded_programs import NEW, SHOP, on
from trio_debugmcp.testing import DebugClient

GOLDEN = Path(__file__).parents[1] / "data" / "answers" / "runs"

PYTHON = on(list(NEW.values())[-1])

CALLS: list[tuple[str, str, dict[str, Any]]] = [
    ("why", "why", {"expression": "second"}),
    ("why_again", "why", {"expression": "cart", "at": "AT"}),
    ("why_run", "why", {"at": "AT", "what": "run"}),
    ("why_not", "why", {"file": "shop.py", "line": 5}),
    ("history_of_a_variable", "history_get", {"expression": "amount", "where": "new > 4", "count": 2}),
    ("history_of_a_content", "history_get", {"expression": "cart"}),
    ("history_of_a_line", "history_get", {"file": "shop.py", "line": 10}),
    ("history_of_a_function", "history_get", {"function": "serve"}),
    ("calls_get", "calls_get", {"depth": 2}),
    ("calls_where", "calls_get", {"function": "total", "where": "nothing > 3"}),
    ("run_goto", "run_goto", {"at": "AT"}),
    ("run_goto_back", "run_goto", {"move": "back"}),
    ("source_get", "source_get", {"file": "shop.py", "run": "run-2", "start_line": 3, "end_line": 6}),
    ("run_compare", "run_compare", {"good": "run-1", "bad": "run-2"}),
    ("run_list", "run_list", {}),
]
"""The name of an answer, the tool, and its arguments; `AT` is a moment of an earlier answer."""

FILL = "    cart.extend(items)\n    return cart\n"

CORRECT = "    if cart:\n        cart = []\n    return [*cart, *items]\n"


async def answers(client: DebugClient, file: Path) -> dict[str, Any]:
    """Return the answers in a session in which a program was recorded before and after a change, and then a piece."""
    found: dict[str, Any] = {}
    wanted = {"program": str(file), "stop_at_entry": False, "stop_on_uncaught": False, **PYTHON}
    for text in (SHOP.replace(FILL, CORRECT), SHOP.replace(FILL, "    if not items:\n        return cart\n" + FILL)):
        file.write_text(text)
        await client.call("debug_launch", **wanted, record=True)
    at = ""
    for name, tool, arguments in CALLS:
        given = {key: at if value == "AT" else value for key, value in arguments.items()}
        found[name] = await client.call(tool, **given)
        at = at or next(line for line in found[name]["because"] if " total | amount += price" in line).split()[0]
    await client.call("debug_launch", **wanted, breakpoints=[{"file": str(file), "line": file.read_text().count("\n")}])
    found["debug_record"] = await client.call("debug_record")
    found["debug_record_end"] = await client.call("debug_record", on=False)
    await client.call("debug_disconnect")
    places = [{"file": str(file), "line": file.read_text()[: file.read_text().index("second =")].count("\n") + 1}]
    await client.call("debug_launch", **wanted, record=True, breakpoints=places)
    found["debug_step_back"] = await client.call("debug_step", mode="back")
    found["debug_step_forth"] = await client.call("debug_step")
    return found


def as_kept(answer: Any, folder: Path) -> str:
    """Return an answer as text, without what differs from run to run."""
    text = json.dumps(answer, separators=(",", ":"), ensure_ascii=False).replace(str(folder), "$DIR")
    text = re.sub(r"[\d.]+ (bytes|kB|MB)(?= of|\")", r"N \1", text)
    return re.sub(r'"pid":\d+', '"pid":1', text)


async def test_every_answer_about_a_run_is_the_one_that_is_on_file(debugging: Connect, tmp_path: Path) -> None:
    async with debugging() as client:
        answered = await answers(client, tmp_path / "shop.py")
    found = {name: as_kept(answer, tmp_path) for name, answer in answered.items()}
    if os.environ.get("RENEW_ANSWERS"):
        for name, text in found.items():
            (GOLDEN / f"{name}.json").write_text(f"{text}\n", encoding="utf-8")
    kept = {name: (GOLDEN / f"{name}.json").read_text(encoding="utf-8").rstrip("\n") for name in found}
    assert found == kept
    assert {file.stem for file in GOLDEN.glob("*.json")} == set(found)
