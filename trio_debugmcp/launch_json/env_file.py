"""The files that `envFile` names: lines of NAME=value, which may refer to variables before them."""

from collections.abc import Callable, Mapping
from io import StringIO


def parse_env_file(
    text: str, variable: Callable[[str], str | None], earlier: Mapping[str, str]
) -> tuple[dict[str, str], list[int]]:
    """Return the variables of a file's text, and the numbers of lines that are not understood.

    `${NAME}` in a value is a variable of the file before it or of the `earlier` files, else the environment's.
    """
    # Imported here: few launches have such a file, and a start needs none of it.
    from dotenv.parser import parse_stream
    from dotenv.variables import parse_variables

    variables: dict[str, str] = {}
    broken = []
    for binding in parse_stream(StringIO(text.removeprefix("\ufeff"))):
        if binding.error:
            broken.append(binding.original.line)
        if binding.key is None or binding.value is None:
            continue
        atoms = list(parse_variables(binding.value))
        names = {name for name in (getattr(atom, "name", None) for atom in atoms) if name is not None}
        values = {name: variables.get(name, earlier.get(name)) or variable(name) for name in names}
        variables[binding.key] = "".join(atom.resolve(values) for atom in atoms)
    return variables, broken
