"""What of the standard library is executed for the debugger: a program waits for it before its first line."""

import json
import subprocess

import pytest

from tests.engine.test_catching import INTERPRETERS, ROOT
from trio_debugmcp.engine import carrier

pytestmark = pytest.mark.real

LOADED = """\
import json
import sys
sys.path.insert(0, {root!r})
from trio_debugmcp.engine.arrival import PrivateModules
from trio_debugmcp.probe.loader import load

modules = PrivateModules()
before = set(modules._loaded)
codes = json.load(sys.stdin)
load(codes, modules, "trio_debugmcp", "engine.inside.engine_start")
at_start = set(modules._loaded) - before
load(codes, modules, "trio_debugmcp", "probe.inside.questions")
json.dump([sorted(at_start), sorted(set(modules._loaded) - before)], sys.stdout)
"""

LONG = {"_ast", "collections", "dis", "os"}
"""Those that take a third of the time, or as long as all the rest."""


@pytest.mark.parametrize("version", INTERPRETERS)
def test_the_engine_begins_and_answers_its_first_question_without_the_modules_that_take_long(version: str) -> None:
    code = LOADED.format(root=str(ROOT))
    sources = json.dumps(carrier.sources())
    argv = [INTERPRETERS[version], "-c", code]
    ran = subprocess.run(argv, input=sources, capture_output=True, text=True, check=True, timeout=60)
    at_start, at_first_stop = map(set, json.loads(ran.stdout))
    assert not at_start & LONG
    assert at_first_stop & LONG <= {"_ast"}
