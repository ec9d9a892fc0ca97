"""How this installation is started, and how it gets one more package: by pipx, uv or pip, whichever has made it.

    with_package("py-spy")      # "pipx inject trio-debugmcp py-spy"
    starting_command()          # ["/home/you/.local/bin/trio-debugmcp"]

Advice is printed where it is to be followed: in the two usual installations, pipx and uvx, there is no pip.
"""

import json
import shlex
import shutil
import sys
from importlib.util import find_spec
from pathlib import Path

NAME = "trio-debugmcp"


def with_package(package: str, *, prefix: str | None = None, has_pip: bool | None = None) -> str:
    """Return the command that adds a package to this installation.

    Args:
        package: its name in the registry.
        prefix: the directory of the environment, by default this one's.
        has_pip: whether pip can be imported there, by default looked for here.
    """
    home = Path(sys.prefix if prefix is None else prefix)
    has_pip = find_spec("pip") is not None if has_pip is None else has_pip
    python = sys.executable if prefix is None else str(home / "bin" / "python")
    if _is_there(home / "pipx_metadata.json"):
        return f"pipx inject {home.name} {package}"
    if _is_there(home / "uv-receipt.toml"):
        return f"uv tool install --with {package} {home.name}"
    if _is_of_uvx(home):
        source = _source() if prefix is None else []
        return shlex.join(["uvx", *source, "--with", package, NAME])
    if has_pip:
        return f"{python} -m pip install {package}"
    other = "uv pip install --python" if _made_by_uv(home) else "python3 -m pip --python"
    return f"{other} {python} {package}" if _made_by_uv(home) else f"{other} {python} install {package}"


def starting_command() -> list[str]:
    """Return the words by which another program starts this installation, whatever its PATH and directory are."""
    home = Path(sys.prefix)
    if _is_of_uvx(home):
        return [shutil.which("uvx") or "uvx", *_source(), NAME]
    script = home / "bin" / NAME
    linked = shutil.which(NAME)  # pipx and uv put a link there, which stays when the environment is made anew
    if linked is not None and _is_there(script) and script.samefile(linked):
        return [str(Path(linked).absolute())]
    return [str(script)] if _is_there(script) else [sys.executable, "-m", "trio_debugmcp"]


def _source() -> list[str]:
    """Where uvx took this from, if it was not the registry: PEP 610."""
    from importlib.metadata import PackageNotFoundError, distribution  # with the parsers of mails and archives

    try:
        text = distribution(NAME).read_text("direct_url.json")
    except PackageNotFoundError:
        return []
    return ["--from", json.loads(text)["url"]] if text else []


def _is_of_uvx(home: Path) -> bool:
    """Whether uvx has made the environment, which is gone with its cache."""
    return _made_by_uv(home) and bool({"archive-v0", "environments-v2"} & set(home.parts))


def _made_by_uv(home: Path) -> bool:
    try:
        return any(line.startswith("uv = ") for line in (home / "pyvenv.cfg").read_text("utf-8").splitlines())
    except (OSError, UnicodeDecodeError):
        return False


def _is_there(file: Path) -> bool:
    try:
        return file.is_file()
    except OSError:
        return False
