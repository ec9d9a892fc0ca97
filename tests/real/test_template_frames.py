"""Frames of Mako and Django have the file and the line of the template. The packages are small ones with what is read
of the true ones (Mako 1.4, Django 5.2 and 6.1): the names of modules, frames and attributes, and the map of lines."""

from pathlib import Path

import pytest

from tests.pythons import Interpreter, found
from tests.real.conftest import Connect

pytestmark = pytest.mark.real

WITH_ENGINE = ("3.12", "3.13")

JINJA = '''\
import os

CODE = """\
name = "page.jinja"

def root(rows):
    yield "<ul>"
    for row in rows:
        yield "<li>"
        yield str(row)
        yield "</li>"

blocks = {}
debug_info = "2=5&4=7"
"""
file = os.path.join(os.path.dirname(os.path.abspath(__file__)), "page.jinja")
names = {"environment": None, "__file__": file}
exec(compile(CODE, file, "exec"), names)
names["__jinja_template__"] = object()
blocks = debug_info = None
print("".join(names["root"]([1, 2])))
'''

PYTHONS = {"{}.{}".format(*python.version): python for python in found() if (3, 8) <= python.version[:2] <= (3, 13)}
WANTED = {name: python for name, python in PYTHONS.items() if name in ("3.8", "3.11", "3.12", "3.13")}

MAKO = """\
import types
import weakref


class ModuleInfo:
    _modules = weakref.WeakValueDictionary()

    def __init__(self, module, source):
        self.module_source = source
        ModuleInfo._modules[module.__name__] = self


class Template:
    def __init__(self, filename, source):
        self.module = types.ModuleType("page_mako")
        self.info = ModuleInfo(self.module, source)
        names = self.module.__dict__
        names.update(_template_filename=filename, _template_uri="page.mako", _magic_number=10)
        exec(compile(source, "page_mako", "exec"), names)

    def render(self, **names):
        return self.module.render_body(**names)
"""

DJANGO = """\
class Token:
    def __init__(self, lineno):
        self.lineno = lineno


class Origin:
    def __init__(self, name):
        self.name = name


class Node:
    token = origin = None

    def __init__(self, render, name, line):
        self.render, self.origin, self.token = render, Origin(name), Token(line)

    def render_annotated(self, context):
        return self.render(context)
"""

PROGRAM = '''\
import os
import sys

here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, here + "/site-packages")
from django.template.base import Node
from mako.template import Template


def price(n):
    return 10 // n


CODE = """
def render_body(price, rows):
    for n in rows:
        price(n)


\\"\\"\\"
__M_BEGIN_METADATA
{"filename": null, "uri": "page.mako", "line_map": {"2": 0, "3": 2, "4": 3, "19": 4}}
__M_END_METADATA
\\"\\"\\"
"""
Template(here + "/page.mako", CODE).render(price=price, rows=[1])
inner = Node(price, here + "/page.html", 4)
outer = Node(inner.render_annotated, here + "/page.html", 2)
outer.render_annotated(2)
outer.render_annotated(0)
'''


def written(folder: Path) -> Path:
    """Write the program, the templates and the packages; return the program."""
    for name, text in {"mako/template.py": MAKO, "django/template/base.py": DJANGO}.items():
        file = folder / "site-packages" / name
        file.parent.mkdir(parents=True)
        file.write_text(text)
    (folder / "page.mako").write_text("<p>\n% for n in rows:\n${price(n)}\n% endfor\n")
    (folder / "page.html").write_text("<p>\n{% for row in rows %}\n<b>\n{{ row.price }}\n")
    (folder / "shop.py").write_text(PROGRAM)
    return folder / "shop.py"


@pytest.mark.parametrize("python", WANTED.values(), ids=WANTED)
async def test_a_frame_of_a_template_has_its_file_and_line_and_what_is_hidden_around_it_is_counted(
    python: Interpreter, debugging: Connect, tmp_path: Path
) -> None:
    program = written(tmp_path)
    (line,) = (number for number, text in enumerate(PROGRAM.splitlines(), 1) if "10 // n" in text)

    def short(frames: list[str]) -> list[str]:
        places = [frame.replace(f"{tmp_path}/", "").partition(" | ")[0] for frame in frames]
        return [place.removesuffix(" (stopped here)") for place in places]

    async with debugging() as client:
        stop = await client.call(
            "debug_launch", program=str(program), breakpoints=[f"{program}:{line}"],
            adapter_options={"python": [python.path]},
        )  # fmt: skip
        of_mako = short(stop["stack"])
        stop = await client.call("debug_continue")
        of_django = short(stop["stack"])
        assert of_django == ["render_annotated page.html:4", "render_annotated :2", "<module> shop.py:29"]
        if python.version >= (3, 12):  # pydevd shows no code of Mako's
            assert of_mako == ["render_body page.mako:3", "<module> shop.py:26"]
        await client.call("breakpoint_remove", id="*")
        stop = await client.call("debug_continue")
        assert stop["exception"].startswith("ZeroDivisionError")
        raised = await client.call("exception_get_context")
        assert short(raised["frames"]) == [
            f"price shop.py:{line} (raised here)",
            "render_annotated page.html:4",
            "render_annotated :2",
            "<module> shop.py:30",
        ]


async def stops_of(debugging: Connect, python: Interpreter, program: Path, breakpoints: list[str]) -> list[str]:
    """Run a program with these breakpoints to its end; return the places of the stops."""
    places = []
    async with debugging() as client:
        stop = await client.call(
            "debug_launch", program=str(program), breakpoints=breakpoints, adapter_options={"python": [python.path]}
        )
        while stop["state"] == "Paused":
            places.append(stop["at"].replace(f"{program.parent}/", ""))
            stop = await client.call("debug_continue")
    return places


@pytest.mark.parametrize("version", WITH_ENGINE)
async def test_a_breakpoint_in_a_template_of_mako_or_django_stops_at_its_line(
    version: str, debugging: Connect, tmp_path: Path
) -> None:
    program = written(tmp_path)
    breakpoints = [f"{tmp_path}/page.mako:3", f"{tmp_path}/page.html:4"]
    assert await stops_of(debugging, PYTHONS[version], program, breakpoints) == [
        "page.mako:3 in render_body",
        "page.html:4 in render_annotated",
        "page.html:4 in render_annotated",
        "shop.py:11 in price",  # of the division by zero
    ]


@pytest.mark.parametrize("version", WITH_ENGINE)
@pytest.mark.parametrize("line", [3, 4])
async def test_a_breakpoint_in_a_template_of_jinja_stops_in_each_round_and_nowhere_else(
    line: int, version: str, debugging: Connect, tmp_path: Path
) -> None:
    program = tmp_path / "shop.py"
    program.write_text(JINJA)
    (tmp_path / "page.jinja").write_text("<ul>\n{% for row in rows %}\n<li>\n{{ row }}\n</li>\n")
    (own,) = (number for number, text in enumerate(JINJA.splitlines(), 1) if text.startswith("blocks = debug_info"))
    breakpoints = [f"{tmp_path}/page.jinja:{line}", f"{program}:{own}"]
    places = await stops_of(debugging, PYTHONS[version], program, breakpoints)
    assert places == [f"shop.py:{own} in <module>", "page.jinja:4 in root", "page.jinja:4 in root"]


WITHOUT_FILE = """\
from jinja2 import DictLoader, Environment, StrictUndefined

pages = Environment(loader=DictLoader({"page": "Dear\\n{{ user.name }}"}), undefined=StrictUndefined)

def show():
    page = pages.get_template("page")
    return page.render()

show()
"""


async def test_an_exception_that_a_template_raises_again_where_it_is_rendered_says_at_which_line_of_it(
    debugging: Connect, tmp_path: Path
) -> None:
    pytest.importorskip("jinja2")
    file = tmp_path / "pages.py"
    file.write_text(WITHOUT_FILE)
    async with debugging() as client:
        stop = await client.call("debug_launch", program=str(file), stop_at_entry=False)
        assert (stop["at"], stop["mode"]) == (f"{file}:7 in show", "unhandled")
        assert stop["exception"].startswith("UndefinedError: 'user' is undefined")
        assert stop["notes"][0] == "raised at <template>:2 in top-level template code, and raised again since"
