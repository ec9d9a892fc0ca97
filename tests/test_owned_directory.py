"""Directories that outlive no process: those that were killed have theirs removed by the next one."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from trio_debugmcp.owned_directory import OwnedDirectory

PREFIX = "trio_debugmcp-test-"

OWNER = f"""
import os, sys
from trio_debugmcp.owned_directory import OwnedDirectory
directory = OwnedDirectory({PREFIX!r}, sys.argv[1])
open(directory.path + "/file", "w").close()
print(directory.path, flush=True)
sys.stdin.read()
"""


@pytest.mark.real
def test_what_a_killed_process_has_left_goes_and_what_belongs_to_others_stays(tmp_path: Path) -> None:
    owners = [
        subprocess.Popen(
            [sys.executable, "-c", OWNER, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for _ in range(2)
    ]
    try:
        killed, living = [Path(owner.stdout.readline().strip()) for owner in owners if owner.stdout is not None]
        owners[0].kill()
        owners[0].wait()
        strange = tmp_path / f"{PREFIX}of-another-program"
        strange.mkdir()
        elsewhere = tmp_path / "elsewhere"
        elsewhere.mkdir()
        (elsewhere / "lock").touch()
        link = tmp_path / f"{PREFIX}link"
        link.symlink_to(elsewhere)

        with OwnedDirectory(PREFIX, str(tmp_path)) as own:
            assert os.stat(own.path).st_mode & 0o777 == 0o700
            there = {Path(own.path), living, strange, elsewhere, link}
            assert set(tmp_path.iterdir()) == there
            assert (living / "file").exists()
            assert not killed.exists()
        assert not os.path.exists(own.path)
        assert (elsewhere / "lock").exists()
    finally:
        for owner in owners:
            owner.kill()
            owner.communicate()
