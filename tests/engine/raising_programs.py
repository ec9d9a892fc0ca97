"""Programs that raise and catch in nested ways, as a strategy of hypothesis."""

import textwrap

from hypothesis import strategies as st

from tests.engine.raising_prelude import PRELUDE

RAISED = ["KeyError", "IndexError", "AttributeError", "StopIteration", "ValueError", "TypeError", "Own"]

CAUGHT = [
    *("KeyError", "LookupError", "(IndexError, AttributeError)", "Exception", "ValueError", "numbered", "names.lookup"),
    *("names.both", "StopIteration", "(TypeError, names.lookup)", "RuntimeError", "BaseException"),
]

MANAGERS = [
    *("contextlib.suppress(KeyError)", "contextlib.suppress(names.lookup, ValueError)", "Plain()", "Swallowing()"),
    *("Choosing()", "passing()", "catching()", "translating()", "twice()", "lock", "made", "stored", "plain_factory()"),
    *("suppressing_factory()", "contextlib.nullcontext()", "contextlib.closing(types.SimpleNamespace(close=len))"),
    *("Plain(), contextlib.suppress(IndexError)", "contextlib.suppress(ValueError), Plain()", "open('/dev/null')"),
    *("Plain() if names else made", "contextlib.ExitStack()"),
]

THROUGH_C = [
    "hasattr(Asked({f}), 'name')",
    "getattr(Asked({f}), 'name', None)",
    "getattr(Asked({f}), 'name')",
    "Asked({f}).name",
    "Asked({f}).computed",
    "hasattr(Asked({f}), 'computed')",
    "Half({f}).computed",
    "getattr(Half({f}), 'computed', 1)",
    "list(Sequence({f}))",
    "sum(Sequence({f}))",
    "1 in Sequence({f})",
    "[*Sequence({f})]",
    "list(Steps({f}))",
    "next(Steps({f}))",
    "next(Steps({f}), None)",
    "list(iter({f}, 0))",
    "list(map(lambda x: {f}(), [1]))",
    "sorted([2, 1], key=lambda x: {f}())",
    "max([2, 1], key=lambda x: {f}())",
    "functools.reduce(lambda x, y: {f}(), [1, 2, 3])",
    "functools.partial({f})()",
    "Missing({f})['key']",
    "Missing({f}).get('key')",
    "isinstance(Half({f}), str)",
    "str(Shown({f}))",
    "f'{{Shown({f})}}'",
    "Shown({f}) == 1",
    "bool(Shown({f}))",
    "len(Shown({f}))",
    "list(Shown({f}))",
    "{{Shown({f}): 1}}",
    "sum(x for x in generated({f}))",
    "[x for x in generated({f})]",
    "list(generated({f}))",
    "next(generated({f}))",
    "list(delegated({f}))",
    "finish(awaited({f}))",
    "exec('f()', {{'f': {f}}})",
    "eval('f()', {{'f': {f}}})",
    "operator.methodcaller('run')(types.SimpleNamespace(run={f}))",
    "type('Made', (Constructed,), {{'function': staticmethod({f})}})()",
]

FUNCTIONS = 4


def indented(text: str) -> str:
    return textwrap.indent(text, "    ")


@st.composite
def statements(draw: st.DrawFn, nested: int, further: int) -> str:
    """A block; `further` is the number of the first function that it may call."""
    kinds = ["raise", "call", "through C", "pass"]
    if nested < 3:
        kinds += ["try", "try", "finally", "with", "with", "loop", "group"]
    kind = draw(st.sampled_from(kinds))
    callee = f"f{draw(st.integers(further, FUNCTIONS - 1))}" if further < FUNCTIONS else "leaf"
    if kind == "raise":
        return f"raise {draw(st.sampled_from(RAISED))}('it')\n"
    if kind == "call":
        return f"{callee}()\n"
    if kind == "through C":
        return draw(st.sampled_from(THROUGH_C)).format(f=callee) + "\n"
    if kind == "pass":
        return "len('')\n"
    body = indented(draw(statements(nested + 1, further)))
    if kind == "with":
        return f"with {draw(st.sampled_from(MANAGERS))}:\n{body}"
    if kind == "loop":
        return f"for _ in generated({callee}):\n{body}"
    if kind == "finally":
        ends = ["len('')\n", "return\n", "if flag: return\n", "for _ in (1,): break\n", draw(statements(3, further))]
        return f"try:\n{body}finally:\n{indented(draw(st.sampled_from(ends)))}"
    if kind == "group":
        return f"try:\n{body}except* {draw(st.sampled_from(CAUGHT[:5]))}:\n    len('')\n"
    return f"try:\n{body}{draw(clauses(nested, further))}"


@st.composite
def clauses(draw: st.DrawFn, nested: int, further: int) -> str:
    endings = [
        *(
            "pass\n",
            "raise\n",
            "raise error\n",
            "if flag: raise\n",
            "raise ValueError('another') from error\n",
            "return\n",
        ),
        *("kept = error\n", "raise error.with_traceback(error.__traceback__)\n", draw(statements(nested + 1, further))),
    ]
    text = ""
    for _ in range(draw(st.integers(1, 2))):
        ending = indented(draw(st.sampled_from(endings)))
        text += f"except {draw(st.sampled_from(CAUGHT))} as error:\n{ending}"
    if draw(st.booleans()):
        text += f"except:\n{indented(draw(st.sampled_from(['pass', 'raise', 'if flag: raise'])))}\n"
    if draw(st.booleans()):
        text += "else:\n    len('')\n"
    if draw(st.booleans()):
        text += "finally:\n    len('')\n"
    return text


@st.composite
def raising_programs(draw: st.DrawFn) -> str:
    text = PRELUDE + f"def leaf():\n    raise {draw(st.sampled_from(RAISED))}('leaf')\n"
    for number in range(FUNCTIONS):
        flag = draw(st.booleans())
        text += f"def f{number}(flag={flag}):\n" + indented(draw(statements(0, number + 1)) + "return 0\n")
    return text + "def main():\n    f0()\n"
