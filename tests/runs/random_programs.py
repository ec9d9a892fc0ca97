"""Random programs for the recorder: their statements write in every way that there is, hidden ones among them."""

from hypothesis import strategies as st

HEAD = """\
import heapq, random
from functools import partial

G = 0

class C:
    kind = 0
    many = []
    def __init__(self, x):
        self.x = x
        self.y = []
    @property
    def twice(self):
        return self.x * 2
    @twice.setter
    def twice(self, value):
        self.x = value
    def bump(self, by):
        self.x += by
        self.y.append(by)
        return self

class T:
    __slots__ = ("x", "y")
    def __init__(self, x):
        self.x = x
        self.y = None

class Held:
    def __init__(self, value):
        self.value = value
    def __enter__(self):
        return self.value
    def __exit__(self, *error):
        self.value = None

def put(items, value):
    items.append(value)
    return items

def hidden(items, value):
    getattr(items, "app" + "end")(value)
    return value

def grow(value, kept=[]):
    kept.append(value)
    return len(kept)

def counter():
    count = 0
    def more():
        nonlocal count
        count += 1
        return count
    return more

def nest(value):
    kept = value
    items = [value]
    def inner(by):
        nonlocal kept, items
        kept += by
        items.append(kept)
        if by > 1:
            items = items[1:]
        return items
    inner(1)
    items[0] += 1
    inner(2)
    return inner(0) if kept % 2 else items

def same(value):
    return value

def change(fields, value):
    fields["x"] = value

push_global = globals().update

GROUP = type(heapq)("group")
GROUP.kind = 0

def set_global(value):
    global G
    G = value

def numbers(items):
    for item in items:
        got = yield item
        if got:
            items.append(got)

"""

FORMS = [
    *("{L} = [{n}, {m}, 3]", "{L} = {K}", "{L} = {K}[1:]", "{L} = {K} + [{n}]", "{L} += [{n}]", "{L} = list({K})"),
    *("{L}.append({n})", "{L}.insert(0, {n})", "{L}[0:1] = [{n}, {m}]", "{L}.sort()", "{L}.reverse()"),
    *("del {L}[0:1]", "if {L}: {L}[0] = {n}", "if {L}: {N} = {L}[0]", "if {L}: {N} = {L}.pop()", "{L} *= 1"),
    *("{D} = {{'k': {n}}}", "{D}['k'] = {n}", "{D}.update(k={n})", "{D} |= {{'j': {n}}}", "{D} = {E}"),
    *("{D}.setdefault('l', []).append({n})", "{D}.pop('k', None)", "{N} = {D}.get('k')", "{D}['l'] = {L}"),
    *("{D}[{n}] = {m}", "{D}['k'] = {D}.get('k') or {n}", "{D}.clear()", "del {D}['k']", "{N} = {D}['k']"),
    *("{S} = {{{n}, {m}}}", "{S}.add({n})", "{S} |= {{{n}}}", "{S}.discard({n})", "{N} = len({S})"),
    *("{O} = C({n})", "{O} = {P}", "{O}.x = {n}", "{O}.y = {L}", "{O}.x += 1", "{N} = {O}.x", "{L} = {O}.y"),
    *("setattr({O}, 'x', {n})", "{O}.__dict__['x'] = {n}", "{O}.__dict__.update(x={n})", "vars({O})['x'] = {n}"),
    *("{O}.twice = {n}", "{N} = {O}.twice", "{O}.bump({n})", "{O}.y.append({n})", "{O}.next = {P}", "C.kind = {n}"),
    *("{O}.x, {P}.x = {P}.x, {O}.x", "{O}.next, {O} = {P}, {P}", "{t}.x = {n}", "{t}.y = {L}", "{N} = {t}.x"),
    *("put({L}, {n})", "put(*[{L}, {n}])", "(lambda v: v.append({n}))({L})", "partial(put, {L})({n})"),
    *("list(map({L}.append, [{n}]))", "heapq.heappush({L}, {n})", "random.Random({n}).shuffle({L})"),
    *("{L} = sorted({L}, key=lambda v: -v)", "{L} = [v + 1 for v in {K}]", "{D} = {{str(v): v for v in {L}}}"),
    *("{N} = sum(v for v in {L})", "{N} = max([0, *{L}])", "{N} = f'{{{N}}}' and {n}", "{N} = any(v > 1 for v in {L})"),
    *("setattr(same({O}), 'x', {n})", "same({O}).x = {n}", "{D}.get('o', {O}).x = {n}", "[{O}, {P}][0 + 1].x = {n}"),
    *("[setattr(v, 'x', {n}) for v in [{O}]]", "for v in [{O}, {P}]: v.x = {n}", "{N} = vars({O})['x']"),
    *("{N}, {M} = {M}, {N}", "{L}, {K} = {K}, {L}", "{N} = ({M} := {n})", "{N} += 1", "{N} = {n}"),
    *("f = counter()", "{N} = f()", "{N} = grow({n})", "set_global({n})", "{N} = G", "{N} = G + {M}"),
    *("for {N} in {L}: {D}['k'] = {N}", "for {N} in {L}:\n    {M} = {N}", "while {L} and len({L}) > 3: {L}.pop()"),
    *(
        "try:\n    {N} = 1 // 0\nexcept ZeroDivisionError as error:\n    {N} = 0",
        "try:\n    {D}['none'].x = 1\nexcept KeyError: pass",
    ),
    *("with Held({L}) as {K}:\n    {K}.append({n})", "if {n} > 2:\n    {N} = {n}\nelse:\n    {M} = {n}"),
    *(
        "{S} = {{v % 3 for v in {L}}}",
        "{D} = {{v: [v] for v in {L} if v > 1}}",
        "{L} = [v for w in [{L}, {K}] for v in w]",
    ),
    *(
        "{L} = [({N} := v) for v in {K}]",
        "if ({N} := len({L})) > 1: {M} = {N}",
        "while ({N} := {N} - 1) > 0:\n    {M} = {N}",
    ),
    *("{N}, *{L} = [{n}, *{K}]", "*{L}, {N} = [{m}, {n}]", "[{N}, {M}] = {n}, {m}", "{L}[0], {D}['k'] = {n}, {m}"),
    *("({N}, {O}.x), {M} = ({n}, {m}), 1", "{L} = {K} = [{n}]", "{N} = {O}.x = {D}['k'] = {n}", "{O}.x = {P}.x = {n}"),
    *(
        "try:\n    {N} = {n}\nfinally:\n    {M} = {N}",
        "try:\n    {L}.append({n})\n    {N} = 1 // 0\nfinally:\n    {M} = {m}",
        "try:\n    {N} = {L}[0]\nexcept IndexError:\n    {M} = 1\nelse:\n    {L}[0] = {n}\nfinally:\n    {N} = {m}",
    ),
    *("{L} = nest({n})", "{N} = nest({n})[0]", "{L} += nest({n})", "{N} = len(nest({m}))"),
    *("C.kind += 1", "{O}.kind = {n}", "{O}.kind += 1", "{N} = {O}.kind", "del {O}.kind", "C.many.append({n})"),
    *(
        "{L} = C.many",
        "{O}.many = {L}",
        "{O}.many += [{n}]",
        "{N} = len({O}.many)",
        "C.many = {L}",
        "{O}.many.append({n})",
    ),
    *("{L}[::2] = {L}[::2][::-1]", "{L}[-1:] = []", "del {L}[1:]", "{L}[:] = {K}", "{L}[len({L}):] = [{n}]"),
    *("{L}[0] += {n}", "{L}[-1] -= 1", "{D}['k'] += {n}", "{D}['l'] += [{n}]", "{O}.y += [{n}]", "{L}[{N} % 2] = {n}"),
    *(
        "{S} -= {{{n}}}",
        "{S} ^= {{{n}}}",
        "{D} = {{**{E}, 'k': {n}}}",
        "{D}.popitem()",
        "{L}.extend(v for v in list({K}))",
    ),
    *(
        "for {N}, {M} in enumerate({L}):\n    {D}[{N}] = {M}",
        "for {O}.x in {L}:\n    {N} = {O}.x",
        "for {D}['k'] in {L}:\n    pass",
    ),
    *(
        "with Held({n}) as {O}.x:\n    {N} = {O}.x",
        "{L}.append({n}) if {N} else {K}.append({m})",
        "{N} and {L}.append({n})",
    ),
    *("match {D}:\n    case {{'k': {N}}}:\n        pass\n    case _:\n        {N} = 0",),
]
"""With the names of lists (L, K), dicts (D, E), a set, objects (O, P), one with slots, numbers (N, M) and constants."""

HIDDEN = [
    *("hidden({L}, {n})", "{N} = hidden({L}, {n})", "push = {L}.append", "push({n})", "globals()['G'] = {n}"),
    *("exec('v.append({n})', {{'v': {L}}})", "walk = numbers({L})", "{N} = next(walk, 0)", "{N} = send(walk, {n})"),
    *("[each for each in globals().values() if type(each) is list and each][-1].append({n})",),
    *("globals().update(G={n})", "vars()['n'] = {n}", "push_global(G={n})"),
    *(
        "fields = vars({O})",
        "fields['x'] = {n}",
        "fields = {O}.__dict__",
        "set_x({n})",
        "set_x = partial(setattr, {O}, 'x')",
    ),
    *("change({O}.__dict__, {n})", "set_global.__globals__['G'] = {n}", "exec('G = {n}', globals())"),
    *("exec(compile('G = {n}', '/made.py', 'exec'), globals())", "{N} = GROUP.kind", "GROUP.kind = {n}"),
    *("setattr(GROUP, 'kind', {n})", "vars(GROUP)['kind'] = {n}"),
    *("class Made:\n    kind = {n}\n    locals()['kind'] = {m}\n    {O}.x = kind",),
    *("put(next(v for v in [{L}]), {n})", "both = ({L}, {K})", "both[0].append({n})", "both[1][:] = []"),
]
"""Ways that no statement names. What they change is a gap at most."""

BEGIN = """\
a = [1, 2]
b = [3]
d = {'k': 1}
e = {}
s = {1}
o = C(1)
p = C(2)
t = T(3)
n = m = 0
f = counter()
push = a.append
walk = numbers(a)
both = (a, b)
fields = {}
set_x = partial(setattr, o, 'x')
"""

SEND = """\
def send(walk, value):
    try:
        return walk.send(value)
    except (StopIteration, TypeError):
        return 0

"""


def _indented(text: str, by: int) -> str:
    return "".join(f"{' ' * by}{line}\n" for line in text.splitlines())


def _guarded(statement: str) -> str:
    """A statement that may fail, in a block that catches it."""
    return f"try:\n{_indented(statement, 4)}except Exception as problem:\n    print(type(problem).__name__)\n"


@st.composite
def statements(draw: st.DrawFn) -> str:
    names = {
        **dict(zip("LK", draw(st.permutations("ab")), strict=True)),
        **dict(zip("DE", draw(st.permutations("de")), strict=True)),
        **dict(zip("OP", draw(st.permutations("op")), strict=True)),
        **dict(zip("NM", draw(st.permutations("nm")), strict=True)),
        "S": "s",
        "t": "t",
        "n": draw(st.integers(0, 9)),
        "m": draw(st.integers(0, 9)),
    }
    form = draw(st.sampled_from(FORMS + HIDDEN))
    return _guarded(form.format(**names))


@st.composite
def programs(draw: st.DrawFn) -> str:
    """Programs of twenty to thirty statements, in a module or in a function."""
    body = "".join(draw(st.lists(statements(), min_size=20, max_size=30)))
    end = "print(a, b, d, e, sorted(s), o.x, p.x, n, m, G)\n"
    if draw(st.booleans()):
        return f"{HEAD}{SEND}{BEGIN}{body}{end}"
    return f"{HEAD}{SEND}def run():\n{_indented(BEGIN + body + end, 4)}\nrun()\n"
