"""`python -m trio_debugmcp`: the same as the command `trio-debugmcp`.

Nothing is imported from the working directory. `own_command` (`own_command.py`) runs this file as a script: then
this package is used, whatever is installed.
"""

import sys
from importlib.util import module_from_spec, spec_from_file_location


def _without_working_directory() -> None:
    """Take what `python -m` has put first from the path: a project may have modules named as those of the library."""
    if not sys.flags.safe_path:
        del sys.path[0]


def _as_package() -> None:
    """Import the package that this file is in, from where it is."""
    home = __file__.removesuffix("__main__.py")
    spec = spec_from_file_location("trio_debugmcp", f"{home}__init__.py", submodule_search_locations=[home])
    if spec is None or spec.loader is None:
        raise ImportError(f"{home} is not a package")
    package = module_from_spec(spec)
    sys.modules["trio_debugmcp"] = package
    spec.loader.exec_module(package)


if __name__ == "__main__":
    _without_working_directory()
    if not __package__:
        _as_package()
    from trio_debugmcp.cli import main

    sys.exit(main())
