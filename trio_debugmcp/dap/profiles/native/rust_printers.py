"""How debuggers load what shows a `String`, a `Vec` or a map of Rust by what it holds: gdb has printers of Rust's own.

    lldb_commands()      # ["command script import …/lldb_rust_values.py"]
    gdb_arguments()      # ["-iex", "python import sys; sys.path.append(…)", "-iex", "python import gdb, gdb_lookup; …"]

The compiler's own directory is found without running it: rustup's default toolchain, else where `rustc` is.
"""

import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

_DEFAULT = re.compile(r'^default_toolchain\s*=\s*"([^"\n]+)"', re.MULTILINE)

_REGISTER = (
    "import gdb, gdb_lookup; rust = getattr(gdb_lookup, 'printer', None) or gdb_lookup.lookup; "
    "gdb.pretty_printers.append("
    "lambda value: rust(value) if gdb.current_language() == 'rust' and value.type.tag else None)"
)
"""Not by its own `register_printers`: it fails at a structure without a name, which programs of C have."""


def gdb_arguments() -> list[str]:
    """Return the arguments with which gdb loads the printers; none where no Rust is installed."""
    place = next((place for place in _places() if (place / "gdb_lookup.py").is_file()), None)
    if place is None:
        return []
    load = f"python import sys; sys.path.append({str(place)!r})"
    return ["-iex", load, "-iex", f"python {_REGISTER}"]


def lldb_commands() -> list[str]:
    """Return the commands with which LLDB loads ours.

    CodeLLDB has others of its own, which `sourceLanguages` loads. These are Rust's: at what is inside of a vector they
    do not end.
    """
    return [f'command script import "{Path(__file__).with_name("lldb_rust_values.py")}"']


def _places() -> Iterator[Path]:
    """Yield the directories in which a toolchain keeps its printers: of rustup's the one in use, then the system's."""
    home = Path(os.environ.get("RUSTUP_HOME") or Path.home() / ".rustup")
    try:
        found = _DEFAULT.search((home / "settings.toml").read_text())
    except (OSError, ValueError):
        found = None
    wanted = os.environ.get("RUSTUP_TOOLCHAIN") or (found[1] if found is not None else None)
    roots = [*sorted((home / "toolchains").glob(f"{wanted}*"))] if wanted else []
    compiler = shutil.which("rustc")
    if compiler is not None:
        roots.append(Path(compiler).resolve().parents[1])
    for root in roots:
        yield root / "lib" / "rustlib" / "etc"
