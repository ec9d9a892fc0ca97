"""What a cluster's workers refuse or send amiss reaches the caller as a sentence, and nothing else of theirs does."""

import zipfile
from pathlib import Path

import pytest

from trio_debugmcp.errors import UsageError
from trio_debugmcp.session.hunting import cluster_tries


def test_the_refusal_of_a_try_leaves_its_nursery_as_it_is() -> None:
    refusal = UsageError("LAUNCH_FAILED", "the directory is not on this worker", {"worker": "w"})
    with pytest.raises(UsageError, match="not on this worker") as caught, cluster_tries.out_of_groups():
        raise ExceptionGroup("", [ExceptionGroup("", [refusal])])
    assert (caught.value.code, caught.value.details) == ("LAUNCH_FAILED", {"worker": "w"})


def test_what_failed_beside_a_refusal_is_not_hidden_by_it() -> None:
    with pytest.RaisesGroup(UsageError, OSError), cluster_tries.out_of_groups():
        raise ExceptionGroup("", [UsageError("LAUNCH_FAILED", "no"), OSError()])


def test_of_a_packed_record_only_its_files_are_taken_and_no_more_than_may_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster_tries, "MOST_UNPACKED_BYTES", 10)
    packed = tmp_path / "record.zip"
    with zipfile.ZipFile(packed, "w") as archive:
        for name, text in (("p-1-1/..", "x"), ("/etc/x", "x"), ("p-1-1/rows", "12345"), ("p-1-1/texts", "x" * 100)):
            archive.writestr(name, text)
    cluster_tries.unpack_record(str(packed), f"{tmp_path}/run")
    assert [file.name for file in (tmp_path / "run" / "p-1-1").iterdir()] == ["rows"]
    packed.write_bytes(b"not a zip file")
    cluster_tries.unpack_record(str(packed), f"{tmp_path}/run")
    assert not packed.exists()
