"""A picture of the page in each of its looks: wide and narrow, light and dark, and in the colours that a system forces.

    in_every_look(page, "#run-panel")

The rest of the page is looked at by `violations` of the tests of accessibility.
"""

from typing import TYPE_CHECKING, Literal

from tests.dashboard.axe import CONTRAST, VIOLATIONS, problems_of
from tests.dashboard.eventually import becomes, eventually, two_frames

if TYPE_CHECKING:
    from playwright.sync_api import Page

LOOKS: tuple[tuple[Literal["light", "dark"], Literal["none", "active"]], ...] = (
    ("light", "none"),
    ("dark", "none"),
    ("light", "active"),
)
"""The page's own colours, and those that the system forces on it."""

WIDTHS = (1440, 1024, 390, 320)

ENDS = (WIDTHS[0], WIDTHS[-1])
"""No colour depends on the width (test_accessibility.py): those of the dark and of a system are judged at these."""

OVERFLOW = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"

COLOURS = """
(within) => [...document.querySelectorAll(`${within} canvas`)].filter((each) => each.checkVisibility()).map((each) => {
  const {data} = each.getContext('2d').getImageData(0, 0, each.width, each.height);
  return new Set(new Uint32Array(data.buffer)).size;
})
"""
"""How many colours there are on each canvas."""

OUT_OF_SIGHT = """
(within) => [...document.querySelectorAll(`${within} :is(.tools, header) :is(button, input)`)]
  .filter((each) => each.checkVisibility() && each.getBoundingClientRect().right > innerWidth)
  .map((each) => each.ariaLabel || each.textContent)
"""
"""The tools of a picture, or of panels, that are beyond the right edge."""

DRAWN = 3
"""Colours of a canvas on which there is something: with the edges of letters there are some dozen."""


def in_every_look(page: "Page", picture: str) -> None:
    """Assert that a picture is drawn, fits, and has nothing that axe-core objects to, in each width and all colours."""
    size = page.viewport_size
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        for scheme, forced in LOOKS:
            page.emulate_media(color_scheme=scheme, forced_colors=forced, reduced_motion="reduce")
            two_frames(page)
            if (scheme, forced) == LOOKS[0] or width in ENDS:
                rules = VIOLATIONS if (scheme, forced) == LOOKS[0] else CONTRAST
                found = problems_of(page, rules, picture)
                assert found == [], f"{width}, {scheme}, forced colours {forced}: {found}"
            eventually(lambda: page.evaluate(COLOURS, picture), lambda found: all(each >= DRAWN for each in found))
        becomes(lambda: page.evaluate(OVERFLOW), 0)
        becomes(lambda: page.evaluate(OUT_OF_SIGHT, picture), [])
    page.emulate_media(color_scheme="light", forced_colors="none")
    if size is not None:
        page.set_viewport_size(size)
