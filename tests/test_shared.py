"""What workers share is made once, by the first that comes, and what fails is tried again."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests import shared


def test_what_several_need_at_once_is_made_once_and_whole(tmp_path: Path) -> None:
    makes = []

    def make(directory: Path) -> None:
        makes.append(directory)
        for number in range(50):
            (directory / str(number)).touch()

    with ThreadPoolExecutor(4) as pool:
        found = [*pool.map(lambda _: len([*shared.made(tmp_path / "it", make).iterdir()]), range(4))]
    assert (len(makes), found) == (1, [50] * 4)


def test_what_fails_or_was_killed_leaves_nothing_that_is_taken_for_it(tmp_path: Path) -> None:
    def fail(directory: Path) -> None:
        (directory / "half").touch()
        raise OSError("no network")

    with pytest.raises(OSError, match="no network"):
        shared.made(tmp_path / "it", fail)
    assert [*shared.made(tmp_path / "it", lambda directory: (directory / "whole").touch()).iterdir()] == [
        tmp_path / "it" / "whole"
    ]
