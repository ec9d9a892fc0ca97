"""The bill of materials of the wheel, in CycloneDX: `sbom.cdx.json`, in the wheel below `.dist-info/sboms` (PEP 770).

The wheel contains no other software; what it requires is named without versions, which the installer chooses.

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


def bill() -> str:
    """Return the text of the file."""
    about = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    own = f"pkg:pypi/{about['name']}@{__version__}"
    required = [re.split(r"[\s<>=!~;\[]", line, maxsplit=1)[0] for line in about["dependencies"]]
    needs = [{"type": "library", "name": name, "bom-ref": f"pkg:pypi/{name.lower()}"} for name in sorted(required)]
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
        "components": [{**need, "scope": "required", "purl": need["bom-ref"]} for need in needs],
        "dependencies": [{"ref": own, "dependsOn": [need["bom-ref"] for need in needs]}],
    }
    return json.dumps(described, indent=2) + "\n"


def main() -> None:
    """Write the file, or say that it differs."""
    if "--check" not in sys.argv:
        FILE.write_text(bill(), "utf-8")
    elif not FILE.is_file() or FILE.read_text("utf-8") != bill():
        sys.exit("sbom.cdx.json differs: run python scripts/_sbom.py")


if __name__ == "__main__":
    main()
