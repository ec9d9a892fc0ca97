"""Put what the page needs of others into modules of it, from the packages of npm: Prism's tokenizer, and uPlot.

    scripts/vendored

`scripts/npm-install` installs the packages; package.json names their versions.
"""

import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ROOT / "tests" / "javascript" / "node_modules"
VENDOR = ROOT / "trio_debugmcp" / "dashboard" / "vendor"

COMPONENTS = (
    *("core", "clike", "markup", "c", "cpp", "rust", "javascript", "jsx", "typescript", "tsx", "python"),
    *("java", "go", "ruby", "bash", "perl", "lua", "fortran", "ada", "d", "pascal", "dart", "robotframework"),
)
"""Of Prism: each after those that it extends."""

PRISM = """\
// @ts-nocheck
// Prism {version}, without what finds and writes markup: https://prismjs.com, under the licence in prism.LICENSE.txt.
// Made by scripts/vendored: to be made again, not edited.
export const Prism = ((window, document, self, global, module, define) => {{
{text}return Prism;
}})({{Prism: {{manual: true}}}});
"""

UPLOT = """\
// @ts-nocheck
// uPlot {version}: https://github.com/leeoniya/uPlot, under the licence in uplot.LICENSE.txt.
// Made by scripts/vendored: to be made again, not edited.
export const uPlot = (() => {{
{text}return uPlot;
}})();
"""


def vendored(packages: Path) -> dict[str, str]:
    """Return the files to be kept, by name, made of the installed packages."""
    components = packages / "prismjs" / "components"
    parts = [_line(components / f"prism-{name}.min.js") for name in COMPONENTS]
    uplot = packages / "uplot" / "dist" / "uPlot.iife.min.js"
    return {
        "prism.js": PRISM.format(version=_version(packages / "prismjs"), text="".join(parts)),
        "prism.LICENSE.txt": (packages / "prismjs" / "LICENSE").read_text(encoding="utf-8"),
        "uplot.js": UPLOT.format(version=_version(packages / "uplot"), text=_line(uplot)),
        "uplot.LICENSE.txt": (packages / "uplot" / "LICENSE").read_text(encoding="utf-8"),
    }


def _version(package: Path) -> str:
    version: str = json.loads((package / "package.json").read_text(encoding="utf-8"))["version"]
    return version


def _line(file: Path) -> str:
    return f"{file.read_text(encoding='utf-8').rstrip()}\n"


def main() -> int:
    """Write the files."""
    for name in ("prismjs", "uplot"):
        if not (PACKAGES / name).exists():
            print(f"there is no {(PACKAGES / name).relative_to(ROOT)}: run scripts/npm-install", file=sys.stderr)
            return 1
    VENDOR.mkdir(exist_ok=True)
    for name, text in vendored(PACKAGES).items():
        (VENDOR / name).write_text(text, encoding="utf-8")
        print(f"{(VENDOR / name).relative_to(ROOT)}: {len(text.encode()):,} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
