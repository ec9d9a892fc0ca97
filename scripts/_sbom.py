"""The bill of materials of the wheel, in CycloneDX: `sbom.cdx.json`, in the wheel below `.dist-info/sboms` (PEP 770).

What the page has from packages of npm is in the wheel and named as it is; what the wheel requires is named without
versions, which the installer chooses.

    python scripts/_sbom.py [--check]
"""

import json
import re
import sys
import tomllib
from pathlib import Path
from typing import Any

from trio_debugmcp import __version__

ROOT = Path(__file__).resolve().parent.parent

FILE = ROOT / "sbom.cdx.json"

VENDORED = ROOT / "trio_debugmcp" / "dashboard" / "vendor"
PACKAGES = ROOT / "tests" / "javascript" / "package-lock.json"


def bill() -> str:
    """Return the text of the file."""
    about = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    own = f"pkg:pypi/{about['name']}@{__version__}"
    required = [re.split(r"[\s<>=!~;\[]", line, maxsplit=1)[0] for line in about["dependencies"]]
    needs = [{"type": "library", "name": name, "bom-ref": f"pkg:pypi/{name.lower()}"} for name in sorted(required)]
    contained = vendored()
    component: dict[str, Any] = {
        "type": "application",
        "name": about["name"],
        "version": __version__,
        "bom-ref": own,
        "purl": own,
        "licenses": [{"license": {"id": about["license"]}}],
    }
    described = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": component},
        "components": [{**each, "scope": "required", "purl": each["bom-ref"]} for each in (*contained, *needs)],
        "dependencies": [{"ref": own, "dependsOn": [each["bom-ref"] for each in (*contained, *needs)]}],
    }
    return json.dumps(described, indent=2) + "\n"


def vendored() -> list[dict[str, Any]]:
    """Return a component for each file of vendor/, which begins with its name, its version and its address."""
    packages = json.loads(PACKAGES.read_text("utf-8"))["packages"]
    components = []
    for file in sorted(VENDORED.glob("*.js")):
        about = re.search(r"^// (\w+) ([\d.]+)[:,].*https://", file.read_text("utf-8"), re.MULTILINE)
        if about is None:
            sys.exit(f"{file.relative_to(ROOT)} does not say what it is: run scripts/vendored")
        name = next(name for name in (about[1].lower(), f"{about[1].lower()}js") if f"node_modules/{name}" in packages)
        licence = packages[f"node_modules/{name}"]["license"]
        purl = f"pkg:npm/{name}@{about[2]}"
        components.append(
            {
                "type": "library",
                "name": name,
                "version": about[2],
                "bom-ref": purl,
                "licenses": [{"license": {"id": licence}}],
            }
        )
    return components


def main() -> None:
    """Write the file, or say that it differs."""
    if "--check" not in sys.argv:
        FILE.write_text(bill(), "utf-8")
    elif not FILE.is_file() or FILE.read_text("utf-8") != bill():
        sys.exit("sbom.cdx.json differs: run python scripts/_sbom.py")


if __name__ == "__main__":
    main()
