"""Put Prism's tokenizer and the grammars of our languages into one module of the page, from the package of npm.

    scripts/prism

`scripts/npm-install` installs the package; package.json names its version.
"""

import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "tests" / "javascript" / "node_modules" / "prismjs"
VENDOR = ROOT / "trio_debugmcp" / "dashboard" / "vendor"

COMPONENTS = (
    *("core", "clike", "markup", "c", "cpp", "rust", "javascript", "jsx", "typescript", "tsx", "python"),
    *("java", "go", "ruby", "bash", "perl", "lua"),
)
"""Each after those that it extends."""

HEAD = """\
// @ts-nocheck
// Prism {version}, without what finds and writes markup: https://prismjs.com, under the licence in prism.LICENSE.txt.
// Made by scripts/prism: to be made again, not edited.
export const Prism = ((window, document, self, global, module, define) => {{
"""

TAIL = """\
return Prism;
})({Prism: {manual: true}});
"""


def vendored(package: Path) -> dict[str, str]:
    """Return the files to be kept, by name, made of an installed package."""
    version = json.loads((package / "package.json").read_text(encoding="utf-8"))["version"]
    parts = [(package / "components" / f"prism-{name}.min.js").read_text(encoding="utf-8") for name in COMPONENTS]
    lines = [f"{part.rstrip()}\n" for part in parts]
    return {
        "prism.js": HEAD.format(version=version) + "".join(lines) + TAIL,
        "prism.LICENSE.txt": (package / "LICENSE").read_text(encoding="utf-8"),
    }


def main() -> int:
    """Write the files."""
    if not PACKAGE.exists():
        print(f"there is no {PACKAGE.relative_to(ROOT)}: run scripts/npm-install", file=sys.stderr)
        return 1
    VENDOR.mkdir(exist_ok=True)
    for name, text in vendored(PACKAGE).items():
        (VENDOR / name).write_text(text, encoding="utf-8")
        print(f"{(VENDOR / name).relative_to(ROOT)}: {len(text.encode()):,} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
