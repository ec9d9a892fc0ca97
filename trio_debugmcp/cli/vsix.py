"""`trio-debugmcp vsix`: the extension for Visual Studio Code, packed into a file that it installs."""

import argparse
import sys
from pathlib import Path


def add_parser(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add `vsix` and its options to the command line."""
    parser = commands.add_parser(
        "vsix",
        help="write the Visual Studio Code extension that joins an agent's debug session",
        description="Write the extension with which Visual Studio Code joins the sessions of `serve --dap`. "
        "Install it with: code --install-extension FILE",
    )
    parser.add_argument("file", nargs="?", type=Path, metavar="FILE", help="default: trio-debugmcp.vsix, here")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Write the extension, and print how it is installed."""
    from trio_debugmcp.editors.extension_package import packed

    file = arguments.file or Path("trio-debugmcp.vsix")
    try:
        file.write_bytes(packed())
    except OSError as error:
        print(f"trio-debugmcp vsix: cannot write {file}: {error.strerror}", file=sys.stderr)
        return 1
    print(f"wrote {file}; install it with: code --install-extension {file}")
    return 0
