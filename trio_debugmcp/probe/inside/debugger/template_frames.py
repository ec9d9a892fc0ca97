"""Frames of templates: Jinja, Mako and Django run code of their own for a template, and users know its file and line.

    place_of(frame, 25)     # ("/shop/page.mako", 4): what render_body of page_mako:25 was made of; None for others

Jinja and Mako make Python code, with a map of lines. Django walks the nodes of a template: the frame in which a node
is rendered stands for it.
"""

from typing import Any, Dict, List, Optional, Tuple

from trio_debugmcp.probe.inside import imported

Place = Tuple[str, int]

_DJANGO = "/django/template/base.py"

_MOST_MAPS = 1000

_maps: Dict[str, Tuple[str, Dict[int, int]]] = {}
"""The map of lines of modules that Mako has made, by their names, each with the text that it is of."""


def place_of(frame: Any, line: int) -> Optional[Place]:
    """Return the file and the line of the template that a line of a frame is of; None if there is none known."""
    code, names = frame.f_code, frame.f_globals
    if type(names) is not dict:
        return None
    if "__jinja_template__" in names:
        return code.co_filename, _line_of_jinja(names.get("debug_info"), line)
    if "_template_uri" in names and "_magic_number" in names:
        return _place_of_mako(names, line)
    return _place_of_node(frame) if renders_node(code) else None


def renders_node(code: Any) -> bool:
    """Whether a function is the one in which Django renders a node of a template."""
    return code.co_name == "render_annotated" and str(code.co_filename).endswith(_DJANGO)


def lines_of(file: str, names: Any) -> Optional[Tuple[str, List[Tuple[int, int]]]]:
    """Return the template that code with these globals was made of, and (line of it, line of the code where it begins).

    None for code that was not made of a template. `file` is that of the code.
    """
    if type(names) is not dict:
        return None
    if "__jinja_template__" in names:
        pairs = [pair.split("=") for pair in str(names.get("debug_info")).split("&")]
        return file, [(int(pair[0]), int(pair[1])) for pair in pairs if len(pair) == 2 and "".join(pair).isdigit()]
    if "_template_uri" in names and "_magic_number" in names:
        template = names.get("_template_filename") or names.get("_template_uri")
        known = sorted(_map_of_mako(names.get("__name__")).items())
        begins = [pair for pair, before in zip(known, [(0, 0), *known]) if pair[1] != before[1]]
        return str(template), [(line, code) for code, line in begins if line]
    return None


def _line_of_jinja(known: Any, line: int) -> int:
    """Return the line of the template: `1=12&3=14` has lines of the template and of the code."""
    if type(known) is not str:
        return line
    found = 1
    for pair in known.split("&"):
        template, _, code = pair.partition("=")
        if code.isdigit() and template.isdigit() and int(code) <= line:
            found = int(template)
    return found


def _place_of_mako(names: Dict[str, Any], line: int) -> Optional[Place]:
    file = names.get("_template_filename") or names.get("_template_uri")
    known = _map_of_mako(names.get("__name__"))
    if type(file) is not str or not known:
        return None
    before = [each for each in known if each <= line]
    return file, max(1, known[max(before)]) if before else 1


def _map_of_mako(name: Any) -> Dict[int, int]:
    """Return the lines of a template by those of the code. They stand at the end of the code, which Mako keeps."""
    mako = imported.now("mako.template")
    modules = getattr(getattr(getattr(mako, "ModuleInfo", None), "_modules", None), "data", None)
    if type(modules) is not dict or type(name) is not str or name not in modules:
        return {}
    text = getattr(modules[name](), "module_source", None)
    if type(text) is not str:
        return {}
    kept = _maps.get(name)
    if kept is not None and kept[0] is text:
        return kept[1]
    _, _, data = text.rpartition("__M_BEGIN_METADATA")
    pairs = data.partition('"line_map": {')[2].partition("}")[0].split(",")
    split = [pair.replace('"', "").split(":") for pair in pairs]
    lines = {int(pair[0]): int(pair[1]) for pair in split if len(pair) == 2 and pair[1].strip().isdigit()}
    if len(_maps) >= _MOST_MAPS:
        _maps.clear()
    _maps[name] = text, lines
    return lines


def _place_of_node(frame: Any) -> Optional[Place]:
    names = _attributes(frame.f_locals.get("self"))
    file = _attributes(names.get("origin")).get("name")
    line = _attributes(names.get("token")).get("lineno")
    return (file, line) if type(file) is str and type(line) is int else None


def _attributes(value: Any) -> Dict[str, Any]:
    """Return the attributes of an instance without running code of its class."""
    try:
        found = object.__getattribute__(value, "__dict__")
    except AttributeError:
        return {}
    return found if type(found) is dict else {}
