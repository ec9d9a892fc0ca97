"""What axe-core finds on a page."""

from typing import TYPE_CHECKING

from tests.javascript import package

if TYPE_CHECKING:
    from playwright.sync_api import Frame, Page

VIOLATIONS = "{resultTypes: ['violations']}"
"""For what axe-core does not object to it makes no selectors: that takes a fifth of its time."""

CONTRAST = "{runOnly: ['color-contrast'], resultTypes: ['violations']}"
"""In the dark the page differs in its colours only."""

LOOKS = 20


def problems_of(page: "Page | Frame", rules: str = VIOLATIONS, within: str = "html") -> list[str]:
    """Return what axe-core finds by these rules in a part of the page, and where.

    What it finds in the midst of a change, such as a colour on its way to another one, is looked for again: a fault of
    the page stays.
    """
    if page.evaluate("typeof axe === 'undefined'"):
        page.evaluate(package("axe-core/axe.min.js").read_text())
    problems = _look(page, rules, within)
    for _ in range(LOOKS):
        before, problems = problems, _look(page, rules, within) if problems else []
        if problems == before:
            break
    return problems


def _look(page: "Page | Frame", rules: str, within: str) -> list[str]:
    violations = page.evaluate(f"(within) => axe.run(within, {rules}).then(({{violations}}) => violations)", within)
    return [
        f"{each['id']} {each['help']}: {node['target']} {node['any'][:1] or node['all'][:1]}"
        for each in violations
        for node in each["nodes"][:3]
    ]
