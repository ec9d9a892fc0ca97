"""Whether the block of a condition was entered is known when it is decided, and not before."""

import pytest

from tests.runs.recorded_programs import python, record
from trio_debugmcp.runs.past.past_process import PastProcess

pytestmark = pytest.mark.real


AWAITED = """\
import asyncio, os


async def ask(answer):
    await asyncio.sleep(0)
    return answer


async def never():
    await asyncio.Event().wait()


async def main():
    if await ask(True):
        said = "yes"
    if await ask(False):
        said = "no"
    asyncio.get_running_loop().call_later(0.01, os._exit, 0)
    if await never():
        said = "never"


asyncio.run(main())
"""


def test_a_condition_that_awaits_is_decided_when_that_has_come_back() -> None:
    past = PastProcess(record(AWAITED, python(3, 13)).processes[0])
    executions = filter(None, map(past.executions.at, range(1, past.record.last + 1)))
    conditions = [execution for execution in executions if execution.statement.is_condition]
    decided = {execution.statement.first: past.blocks.entered(execution) for execution in conditions}
    assert decided == {14: True, 16: False, 19: None}
