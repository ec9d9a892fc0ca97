"""What a built file was made from, by its source map."""

import base64
import json
from pathlib import Path

import pytest

from trio_debugmcp.dap.profiles.javascript.source_maps import only_source

BESIDE = "run();\n//# sourceMappingURL=main.js.map\n"


def built(directory: Path, text: str, source_map: str | None) -> str:
    for folder in ("src", "dist"):
        (directory / folder).mkdir()
    (directory / "src" / "main page.ts").write_text("run();\n")
    (directory / "dist" / "main.js").write_text(text)
    if source_map is not None:
        (directory / "dist" / "main.js.map").write_text(source_map)
    return str(directory / "dist" / "main.js")


@pytest.mark.parametrize(
    "source_map",
    [
        {"sources": ["../src/main page.ts"]},
        {"sources": ["../src/main%20page.ts"], "sourceRoot": ""},
        {"sources": ["src/main page.ts"], "sourceRoot": ".."},
    ],
)
def test_a_built_file_is_traced_to_its_source_by_the_map_beside_it_or_inside(
    tmp_path: Path, source_map: dict[str, object]
) -> None:
    text = json.dumps(source_map)
    (tmp_path / "a").mkdir()
    assert only_source(built(tmp_path / "a", BESIDE, text)) == str(tmp_path / "a" / "src" / "main page.ts")
    inside = f"data:application/json;charset=utf-8;base64,{base64.b64encode(text.encode()).decode()}"
    (tmp_path / "b").mkdir()
    file = built(tmp_path / "b", f"run();\n//# sourceMappingURL={inside}", None)
    assert only_source(file) == str(tmp_path / "b" / "src" / "main page.ts")


@pytest.mark.parametrize(
    ("text", "source_map"),
    [
        ("run();\n", '{"sources": ["../src/main page.ts"]}'),  # no map is named
        (BESIDE, None),
        (BESIDE, "{"),
        (BESIDE, "[]"),
        (BESIDE, '{"sources": [7]}'),
        (BESIDE, '{"sources": ["../src/gone.ts"]}'),
        (BESIDE, '{"sources": ["../src/main page.ts", "../src/other.ts"]}'),  # a bundle
        (BESIDE, '{"sources": ["https://x.org/main.ts"]}'),
        ("//# sourceMappingURL=data:application/json;base64,e", None),
        ("//# sourceMappingURL=/nowhere/a.map", None),
        (BESIDE + " " * (1024 * 1024), '{"sources": ["../src/main page.ts"]}'),
    ],
)
def test_without_one_source_that_is_there_a_built_file_stands_for_itself(
    tmp_path: Path, text: str, source_map: str | None
) -> None:
    assert only_source(built(tmp_path, text, source_map)) is None


def test_a_file_that_is_not_there_was_built_from_nothing(tmp_path: Path) -> None:
    assert only_source(str(tmp_path / "main.js")) is None
