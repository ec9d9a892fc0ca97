"""The pages that people read hang together: links and anchors lead somewhere, the contents name every page.

`scripts/docs` builds the site of them with Sphinx, which checks more, and takes longer.
"""

import inspect
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from trio_debugmcp import client, fleet, testing

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
HOME = "https://github.com/trio-debugmcp/trio-debugmcp/blob/main/"
"""The address of this repository's files. The site has no pages for those outside of docs/, so it links to these."""

PAGES = [
    *(ROOT / name for name in ("README.md", "CHANGELOG.md", "tests/README.md")),
    *sorted((ROOT / ".github").rglob("*.md")),
    *sorted(DOCS.glob("*.md")),
]
INCLUDED = {"changelog.md": "CHANGELOG.md", "contributing.md": ".github/CONTRIBUTING.md"}
"""Pages of the site that are files from elsewhere."""


def prose(page: Path) -> str:
    """The text of a page without its code."""
    return re.sub(r"```.*?```|`[^`\n]*`", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)


def links(page: Path) -> Iterator[tuple[Path, str]]:
    """The files that a page links to, and the anchor in each."""
    for target in re.findall(r"\]\(([^)\s]+)\)", prose(page)):
        ours = target.startswith(HOME)
        if not ours and re.match(r"\w+:", target):
            continue
        name, _, anchor = target.removeprefix(HOME).partition("#")
        yield ((ROOT if ours else page.parent) / name).resolve() if name else page, anchor


def anchors(page: Path) -> set[str]:
    """The anchors of the headings of a page, as GitHub and MyST make them."""
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    headings = re.findall(r"^#{1,3} (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def contents() -> list[str]:
    """The pages that the contents of the site name, in order."""
    index = (DOCS / "index.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```\{toctree\}\n(.*?)```", index, re.DOTALL)
    return [line for block in blocks for line in block.splitlines() if line and not line.startswith(":")]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_file_of_this_repository_that_a_page_names_exists(page: Path) -> None:
    """Those in a folder of tests or of the package; `tests/test_a.py` is a file of some user's."""
    named = re.findall(r"`((?:tests/\w+|trio_debugmcp)/[\w./-]+\.\w+)`", page.read_text(encoding="utf-8"))
    assert page.stem in ("CHANGELOG", "history") or not [name for name in named if not (ROOT / name).exists()]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_of_a_page_leads_to_a_file_and_every_anchor_to_a_heading(page: Path) -> None:
    for file, anchor in links(page):
        assert file.exists(), f"there is no {file}"
        assert not anchor or anchor in anchors(file), f"{file.name} has no heading {anchor}"


@pytest.mark.parametrize("page", sorted(DOCS.glob("*.md")), ids=lambda page: page.name)
def test_pages_of_the_site_link_to_no_file_that_the_site_has_not(page: Path) -> None:
    for target in re.findall(r"\]\((\.\./[^)]*)\)", prose(page)):
        pytest.fail(f"write {HOME}{target.removeprefix('../')}")


def test_the_contents_of_the_site_name_every_page_once() -> None:
    assert sorted([*contents(), "index"]) == sorted(page.stem for page in DOCS.glob("*.md"))


@pytest.mark.parametrize(("name", "source"), INCLUDED.items())
def test_the_changelog_and_the_contributing_guide_are_on_the_site(name: str, source: str) -> None:
    page = DOCS / name
    (included,) = re.findall(r"```\{include\} (\S+)", page.read_text(encoding="utf-8"))
    assert (DOCS / included).resolve() == ROOT / source


@pytest.mark.parametrize(("name", "package"), [("api-client", client), ("api-testing", testing), ("api-fleet", fleet)])
def test_the_reference_has_every_public_name_and_no_other(name: str, package: object) -> None:
    page = (DOCS / f"{name}.md").read_text(encoding="utf-8")
    named = [full.rpartition(".")[2] for full in re.findall(r"^\.\. auto\w+:: (\S+)", page, re.MULTILINE)]
    assert sorted(named) == sorted(package.__all__)  # type: ignore[attr-defined]


@pytest.mark.parametrize("package", [client, testing, fleet], ids=lambda package: package.__name__.rpartition(".")[2])
def test_help_shows_the_parameters_of_every_public_name(package: object) -> None:
    for name in package.__all__:  # type: ignore[attr-defined]
        thing = getattr(package, name)
        if callable(thing) and not (isinstance(thing, type) and issubclass(thing, Exception)):
            assert inspect.signature(thing), name
