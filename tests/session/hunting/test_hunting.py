"""A hunt over tries that are only played: how many at once, when it ends, and what becomes of its files."""

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import trio
from trio.testing import MockClock

from trio_debugmcp.errors import UsageError
from trio_debugmcp.session.hunting.hunt_plan import HuntPlan
from trio_debugmcp.session.hunting.hunting import HuntFound, hunt
from trio_debugmcp.session.hunting.try_choice import TryChoice
from trio_debugmcp.session.hunting.wanted_ends import WantedEnd


class PlayedTries:
    """Tries of which those with the hash seed 7 fail. They wait for each other, as real ones do."""

    slots = 3

    def __init__(self) -> None:
        self.problems: dict[str, None] = {}
        self.under_way = self.most = 0

    async def run(self, wanted: Mapping[str, Any], directory: str) -> dict[str, Any]:
        self.under_way += 1
        self.most = max(self.most, self.under_way)
        try:
            for _ in range(3):
                await trio.lowlevel.checkpoint()
        finally:
            self.under_way -= 1
        has_failed = wanted["env"]["PYTHONHASHSEED"] == "7"
        code = 1 if has_failed else 0
        return {"exitCode": code, "seconds": 1.0, "stdout": "", "stderr": "", "leftOut": 0, "areSet": True}


async def hunted(engine: PlayedTries, home: Path, seconds: float = 3000) -> HuntFound:
    async def report(choice: TryChoice) -> None:
        assert choice.made

    plan = HuntPlan(command=("python", "shop.py"), cwd="/")
    return await hunt(plan, WantedEnd("fails"), engine, home, report, seconds)


async def test_as_many_tries_are_under_way_as_there_are_slots_and_none_is_left(tmp_path: Path) -> None:
    class Meeting(PlayedTries):
        def __init__(self) -> None:
            super().__init__()
            self.full, self.begun = trio.Event(), 0

        async def run(self, wanted: Mapping[str, Any], directory: str) -> dict[str, Any]:
            self.begun += 1
            if self.begun == self.slots:
                self.full.set()
            await self.full.wait()  # files are made in threads, which may be slow: the first ones wait for each other
            return await super().run(wanted, directory)

    engine = Meeting()
    found = await hunted(engine, tmp_path)
    assert (engine.most, engine.under_way) == (3, 0)
    assert found.hit is not None
    assert found.hit.conditions.hash_seed == 7
    assert not list(tmp_path.glob("try-*")), "nothing was recorded"


async def test_when_the_time_is_over_the_answer_has_what_is_known(autojump_clock: MockClock, tmp_path: Path) -> None:
    class Hanging(PlayedTries):
        async def run(self, wanted: Mapping[str, Any], directory: str) -> dict[str, Any]:
            if wanted["env"]["PYTHONHASHSEED"] != "1":
                await trio.sleep_forever()
            return await super().run(wanted, directory)

    engine = Hanging()
    found = await hunted(engine, tmp_path)
    assert (found.timed_out, found.hit, engine.under_way) == (True, None, 0)
    assert found.made <= 1


async def test_files_that_the_program_removes_end_the_hunt_with_what_to_do(tmp_path: Path) -> None:
    home = tmp_path / "hunt"
    home.mkdir()

    class Removing(PlayedTries):
        async def run(self, wanted: Mapping[str, Any], directory: str) -> dict[str, Any]:
            shutil.rmtree(home, ignore_errors=True)
            return await super().run(wanted, directory)

    with pytest.raises(UsageError, match="The files of a try are not there: No such file") as caught:
        await hunted(Removing(), home)
    assert caught.value.code == "LAUNCH_FAILED"
