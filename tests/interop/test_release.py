"""What a release is made of, and the workflow that makes it."""

import importlib.util
import json
import re
import tomllib
from pathlib import Path

import pytest

from trio_debugmcp import __version__

ROOT = Path(__file__).resolve().parents[2]
CONDA = ROOT / "docs" / "deploy" / "conda" / "meta.yaml"
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


@pytest.mark.parametrize("file", [*WORKFLOWS, ROOT / "action.yml"], ids=lambda file: file.name)
def test_each_action_is_named_by_its_commit_with_its_version_beside_it(file: Path) -> None:
    used = re.findall(r"^\s*(?:- )?uses: (.+)$", file.read_text(), re.MULTILINE)
    assert used
    assert not [each for each in used if not re.fullmatch(r"[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", each)]


def test_one_action_has_one_commit_everywhere() -> None:
    texts = "\n".join(file.read_text() for file in (*WORKFLOWS, ROOT / "action.yml"))
    commits: dict[str, set[str]] = {}
    for action, commit in re.findall(r"uses: ([\w./-]+)@([0-9a-f]{40})", texts):
        commits.setdefault("/".join(action.split("/")[:2]), set()).add(commit)
    assert {action: found for action, found in commits.items() if len(found) > 1} == {}


def test_only_the_release_may_publish_and_no_workflow_has_a_secret() -> None:
    for file in WORKFLOWS:
        text = file.read_text()
        assert "secrets." not in text, file.name
        assert ("pypi-publish" in text) == (file.name == "release.yml")
        assert re.search(r"^permissions:", text, re.MULTILINE), file.name


def test_the_bill_of_materials_is_that_of_this_version() -> None:
    spec = importlib.util.spec_from_file_location("sbom", ROOT / "scripts" / "_sbom.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert (ROOT / "sbom.cdx.json").read_text() == module.bill(), "run python scripts/_sbom.py"
    names = [component["name"] for component in json.loads(module.bill())["components"]]
    assert {"trio", "mcp", "debugpy"} <= set(names)


def test_the_conda_recipe_needs_what_the_package_needs() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    needed = [f"python {project['project']['requires-python']}"]
    for requirement in project["project"]["dependencies"]:
        name, bound = re.fullmatch(r"([\w-]+)([^;]+)(;.*)?", requirement).group(1, 2)  # type: ignore[union-attr]
        needed.append(f"{name} {bound}")
    assert CONDA.read_text().partition("  run:\n")[2].partition("\ntest:")[0].count("    - ") == len(needed)
    listed = re.findall(r"^ +- (\S+ [^#\n]*\S)", CONDA.read_text(), re.MULTILINE)
    assert set(needed) | {re.sub("(?=>)", " ", line) for line in project["build-system"]["requires"]} <= set(listed)


def test_the_conda_recipe_has_all_licences() -> None:
    patterns = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["license-files"]
    files = sorted(str(file.relative_to(ROOT)) for pattern in patterns for file in ROOT.glob(pattern))
    assert CONDA.read_text().partition("license_file:\n")[2] == "".join(f"    - {file}\n" for file in files)


def test_what_names_a_version_names_this_one() -> None:
    feature = ROOT / "docs" / "deploy" / "devcontainer" / "trio-debugmcp" / "devcontainer-feature.json"
    assert json.loads(feature.read_text())["version"] == __version__
    assert f'version: "{__version__}"' in CONDA.read_text()
