"""The extension for Visual Studio Code as a `.vsix` file: a zip archive of Open Packaging Conventions.

    Path("trio-debugmcp.vsix").write_bytes(packed())

Its two files are in `vscode/` beside this module; its version is that of the package.
"""

import io
import json
import zipfile
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

from trio_debugmcp import __version__

_EXTENSION = Path(__file__).parent / "vscode"

_TIME = (2000, 1, 1, 0, 0, 0)
"""Of every entry, so that the same version is the same file."""

_TYPES = """<?xml version="1.0" encoding="utf-8"?>
<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">
  <Default Extension=".json" ContentType="application/json"/>
  <Default Extension=".js" ContentType="application/javascript"/>
  <Default Extension=".vsixmanifest" ContentType="text/xml"/>
</Types>
"""

_MANIFEST = """<?xml version="1.0" encoding="utf-8"?>
<PackageManifest Version="2.0.0" xmlns="http://schemas.microsoft.com/developer/vsx-schema/2011">
  <Metadata>
    <Identity Language="en-US" Id={name} Version={version} Publisher={publisher}/>
    <DisplayName>{title}</DisplayName>
    <Description xml:space="preserve">{description}</Description>
    <Categories>{categories}</Categories>
    <Properties>
      <Property Id="Microsoft.VisualStudio.Code.Engine" Value={engine}/>
    </Properties>
  </Metadata>
  <Installation><InstallationTarget Id="Microsoft.VisualStudio.Code"/></Installation>
  <Dependencies/>
  <Assets>
    <Asset Type="Microsoft.VisualStudio.Code.Manifest" Path="extension/package.json" Addressable="true"/>
  </Assets>
</PackageManifest>
"""


def packed() -> bytes:
    """Return the `.vsix` file."""
    described = json.loads((_EXTENSION / "package.json").read_text("utf-8")) | {"version": __version__}
    manifest = _MANIFEST.format(
        name=quoteattr(described["name"]),
        version=quoteattr(described["version"]),
        publisher=quoteattr(described["publisher"]),
        title=escape(described["displayName"]),
        description=escape(described["description"]),
        categories=escape(",".join(described["categories"])),
        engine=quoteattr(described["engines"]["vscode"]),
    )
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in (
            ("extension.vsixmanifest", manifest),
            ("[Content_Types].xml", _TYPES),
            ("extension/package.json", json.dumps(described, indent=2)),
            ("extension/extension.js", (_EXTENSION / "extension.js").read_text("utf-8")),
        ):
            archive.writestr(zipfile.ZipInfo(name, _TIME), text, zipfile.ZIP_DEFLATED)
    return file.getvalue()
