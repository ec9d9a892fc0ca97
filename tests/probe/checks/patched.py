"""What the program patches changes no answer: the probe is loaded as in a program, on builtins and modules of its own.

The sources that are loaded are in the file that PROBE_PACKED names, as `packing` makes them; test_inside writes it.
"""

import _thread
import builtins
import datetime
import importlib
import json
import os
import sys
import threading
import time
from typing import Any, Dict, List, Tuple

NAMES = (
    *("json.dumps", "json.loads", "json.JSONDecoder", "json.encoder.JSONEncoder", "json.encoder.c_make_encoder"),
    *("threading.Thread", "threading.enumerate", "threading.current_thread", "threading.Lock", "threading.RLock"),
    *("threading.get_ident", "threading.main_thread", "threading.Condition", "time.time", "time.monotonic"),
    *("time.perf_counter", "time.sleep", "builtins.__import__", "builtins.id", "builtins.len", "builtins.isinstance"),
    *("builtins.repr", "builtins.str", "builtins.getattr", "builtins.hasattr", "builtins.sorted", "builtins.list"),
    *("builtins.dict", "builtins.type", "builtins.vars", "builtins.open", "builtins.compile", "builtins.eval"),
    *("builtins.exec", "builtins.issubclass", "builtins.any", "builtins.next", "builtins.property", "sys._getframe"),
    *("sys._current_frames", "sys.exc_info", "sys.modules", "collections.deque", "collections.OrderedDict"),
    *("itertools.islice", "types.FunctionType", "types.ModuleType", "ast.parse", "ast.Name", "dis.opname"),
    *("dis.get_instructions", "dis.Instruction", "traceback.format_exception", "traceback.TracebackException"),
    *("linecache.getline", "linecache.getlines", "re.compile", "re.escape", "enum.Enum", "os.stat", "os.getpid"),
    *("posixpath.exists", "posixpath.join", "_thread.allocate_lock", "_thread.start_new_thread", "marshal.dumps"),
    *("marshal.loads", "gc.get_referents", "atexit.register", "contextlib.suppress", "tokenize.open", "os.fspath"),
)


PATIENCE = 200
"""How much longer than usual an answer may take: a busy machine cuts none."""


class Fake:
    """What is put in the place of anything."""

    def __call__(self, *_: Any, **__: Any) -> Any:
        return self

    def __getattr__(self, name: str) -> Any:
        return self


class Patched:
    """A name that stands for something else meanwhile. `mock.patch` could not undo all of these."""

    def __init__(self, name: str) -> None:
        module, _, self._name = name.rpartition(".")
        self._module = importlib.import_module(module)
        self._kept = getattr(self._module, self._name)

    def __enter__(self) -> None:
        _set(self._module, self._name, Fake())

    def __exit__(self, *_: object) -> None:
        _set(self._module, self._name, self._kept)


class Frozen:
    """Time that stands still wherever a module has a name for it, as `freezegun` does it."""

    def __enter__(self) -> None:
        instead = {id(getattr(time, name)): lambda: 0.0 for name in ("time", "monotonic", "perf_counter")}
        self._undone: List[Tuple[Any, str, Any]] = []
        for module in list(sys.modules.values()):
            for name, value in list(getattr(module, "__dict__", {}).items()):
                if id(value) in instead or value is datetime.datetime:
                    self._undone.append((module, name, value))
                    setattr(module, name, instead.get(id(value), Fake()))

    def __exit__(self, *_: object) -> None:
        for module, name, value in self._undone:
            setattr(module, name, value)


class Unpatched:
    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        pass


_set = setattr


PATCHES = [*((name, Patched(name)) for name in NAMES), ("the clock", Frozen())]


def installed() -> Any:
    with open(os.environ["PROBE_PACKED"], encoding="utf-8") as file:
        packed = json.load(file)
    names: Dict[str, Any] = {"__builtins__": dict(vars(builtins))}
    exec(packed["loader"], names)
    return names["load"](packed["sources"], names["Kept"]())


class Line:
    def __init__(self, product: str, count: int) -> None:
        self.product, self.count = product, count


class Basket:
    def __init__(self) -> None:
        self.owner = "ben"
        self.lines = [Line("tea", 1), Line("ham", 2)]

    @property
    def total(self) -> int:
        return 3


class Shown:
    def __repr__(self) -> str:
        return "shown"


def visit(basket: Basket, idents: List[int], gate: Any) -> None:
    text, shown, number = "x" * 300, Shown(), 5
    idents.append(_thread.get_ident())
    gate.acquire()
    del text, shown, number


def questions(thread: int) -> List[Tuple[str, str]]:
    found: List[Tuple[str, Dict[str, Any]]] = [
        ("stop", {"types": True}),
        ("threads", {}),
        ("frames", {"locals": True}),
        ("stacks", {}),
        ("variables", {"path": "basket.lines", "depth": 2}),
        ("inspect", {"path": "basket"}),
        ("capture", {}),
        ("summarize", {"path": "basket.lines"}),
        ("describe", {"expression": "number + 41"}),
        ("safe", {"expression": "[line.count + 1 for line in basket.lines]"}),
        ("safe", {"expression": "basket.total"}),
        ("type", {"expression": "basket"}),
        ("symbols", {"pattern": "*Basket"}),
        ("references", {"expression": "basket", "direction": "outbound"}),
        ("tasks", {}),
        ("modules", {"filter": "patched"}),
        ("outcome", {"number": 77}),
    ]
    return [(name, json.dumps({"thread": thread, "patience": PATIENCE, **parameters})) for name, parameters in found]


def answers(probe: Any, asked: List[Tuple[str, str]], patched: Any) -> List[Any]:
    found = []
    with patched:
        for name, parameters in asked:
            found.append(probe.call(name, parameters))
    replies = [json.loads(each) for each in found]
    for each in replies:
        del each["ms"]
    return replies


def evaluated(probe: Any, source: str, patched: Any) -> Any:
    parameters = json.dumps({"number": 5, "source": source})
    done = probe.call
    sleep = time.sleep
    with patched:
        found = done("start", parameters)
        for _ in range(10000):
            if '"done": true' in found:
                break
            sleep(0.01)
            found = done("outcome", parameters)
    return json.loads(found)["answer"]


def check_patched_names_change_no_answer() -> None:
    probe, gate, idents = installed(), threading.Lock(), []  # type: ignore[var-annotated]
    gate.acquire()
    threading.Thread(target=visit, args=(Basket(), idents, gate), daemon=True).start()
    while not idents:
        time.sleep(0.01)
    time.sleep(0.1)
    asked = questions(idents[0])
    expected: List[Any] = []
    wrong = []
    for name, patched in [("", Unpatched()), *PATCHES]:
        for _ in range(5):  # on a busy machine an answer may be cut
            found = answers(probe, asked, patched)
            expected = expected or found
            if found == expected:
                break
        else:
            wrong += [(name, *pair) for pair in zip(asked, expected, found) if pair[1] != pair[2]]
    assert [each for each in expected if "answer" not in each] == [expected[10], expected[16]], expected
    assert not wrong, "\n".join(map(str, wrong))


SOURCES = ("1 + 41", "1 / 0", "nope", "def f(): raise KeyError('no')\nf()", "import os\n[os.sep, 'x' * 70000]", "1 +")


def check_patched_names_change_no_evaluation() -> None:
    probe = installed()
    wrong = []
    for source in SOURCES:
        expected = evaluated(probe, source, Unpatched())
        assert expected["done"]
        for name, patched in PATCHES:
            if "import" in name + source:  # what is evaluated is code of the program, to which a patch applies
                continue
            found = evaluated(probe, source, patched)
            if found != expected:
                wrong.append((name, source, expected, found))
    assert not wrong, "\n".join(map(str, wrong))
