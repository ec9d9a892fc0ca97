"""Small programs with the verdict of their first exception; each is run, and the oracle says what becomes of it."""

# mypy: ignore-errors

import asyncio
import threading

from tests.engine.oracle import Oracle
from tests.engine.raising_prelude import PRELUDE

CAUGHT = """
try: raise KeyError
except KeyError: pass
---
try: leaf()
except LookupError: pass
---
try: leaf()
except: pass
---
try: leaf()
except (ValueError, KeyError): pass
---
try: leaf()
except numbered: pass
---
try: leaf()
except names.lookup as error: len(str(error))
---
try:
    try: leaf()
    except ValueError: pass
except KeyError: pass
---
try:
    try: leaf()
    finally: len("")
except KeyError: pass
---
try:
    try: leaf()
    except KeyError: raise
except KeyError: pass
---
try:
    try: leaf()
    except KeyError as error: raise error
except KeyError: pass
---
try: leaf()
except KeyError as error: raise ValueError from error
---
for _ in (1, 2):
    try: leaf()
    except KeyError: continue
---
while True:
    try: leaf()
    except KeyError: break
---
try: leaf()
finally: return
---
for _ in (1,):
    try: leaf()
    finally: break
---
try: leaf()
except ValueError: pass
except KeyError: pass
else: len("")
finally: len("")
---
try:
    for _ in generated(leaf): pass
except KeyError: pass
---
try: list(delegated(leaf))
except KeyError: pass
---
try: finish(awaited(leaf))
except KeyError: pass
---
try: raise ExceptionGroup("", [KeyError(), ExceptionGroup("", [IndexError()])])
except* LookupError: pass
---
try: raise KeyError
except* LookupError: pass
---
with contextlib.suppress(KeyError): leaf()
---
with contextlib.suppress(ValueError, names.lookup): leaf()
---
with contextlib.suppress(LookupError), Plain(): leaf()
---
with Plain(), contextlib.suppress(LookupError): leaf()
---
with Swallowing(): leaf()
---
with made: leaf()
---
with catching(): leaf()
---
with translating(): leaf()
---
with suppressing_factory(): leaf()
---
with contextlib.ExitStack() as stack:
    stack.enter_context(contextlib.suppress(KeyError))
    leaf()
---
with contextlib.suppress(KeyError) as entered:
    with Plain() as inner:
        leaf()
---
hasattr(Asked(attribute), "name")
---
getattr(Asked(attribute), "name", None)
---
hasattr(Half(attribute), "computed")
---
list(Steps(stop))
---
for _ in Steps(stop): pass
---
[*Steps(stop)]
---
next(Steps(stop), None)
---
for _ in Sequence(index): pass
---
list(Sequence(index))
---
1 in Sequence(index)
---
import unittest
case = unittest.TestCase()
with case.assertRaises(LookupError): leaf()
---
import unittest
unittest.TestCase().assertRaises(LookupError, leaf)
---
def recursive(left):
    try:
        if left: recursive(left - 1)
        else: leaf()
    except ValueError: pass
try: recursive(20)
except KeyError: pass
---
class Body:
    try: leaf()
    except KeyError: pass
---
exec("try: leaf()\\nexcept KeyError: pass", globals())
---
[(lambda: contextlib.suppress(KeyError))() for _ in (1,)]
with lock:
    with contextlib.suppress(KeyError):
        try: leaf()
        finally: len("")
---
async def manager():
    async with asynchronous(): leaf()
finish(manager())
---
async def loop():
    async for _ in ended(): pass
finish(loop())
---
async def eager():
    loop = asyncio.get_running_loop()
    await asyncio.gather(asyncio.eager_task_factory(loop, awaited(leaf)), return_exceptions=True)
asyncio.run(eager())
"""

UNCAUGHT = """
known = {"f": attribute}
known["f"]()
---
known = [len, attribute]
known[1]()
---
known = (attribute,)
known[-1]()
---
leaf()
---
raise KeyError
---
try: leaf()
except ValueError: pass
---
try: leaf()
except KeyError: raise
---
try: leaf()
except KeyError as error: raise error
---
try: leaf()
except KeyError as error:
    len("")
    raise error.with_traceback(error.__traceback__)
---
try: leaf()
except: len(""); raise
---
try: leaf()
finally: len("")
---
try: pass
except KeyError: pass
else: leaf()
---
try: len("")
finally: leaf()
---
with Plain(): leaf()
---
with lock: leaf()
---
with passing(): leaf()
---
with plain_factory(): leaf()
---
with open("/dev/null"), Plain() as plain: leaf()
---
with contextlib.suppress(ValueError): leaf()
---
with contextlib.nullcontext(): leaf()
---
with contextlib.closing(generated(len)): leaf()
---
with contextlib.suppress(KeyError): pass
leaf()
---
with contextlib.suppress(KeyError):
    with contextlib.suppress(KeyError): pass
with Plain(): leaf()
---
with contextlib.ExitStack() as stack:
    stack.enter_context(contextlib.suppress(ValueError))
    stack.callback(len, "")
    leaf()
---
for _ in generated(leaf): pass
---
list(generated(leaf))
---
sum(x for x in generated(leaf))
---
sorted([2, 1], key=lambda x: leaf())
---
max([2, 1], key=lambda x: leaf())
---
hasattr(Asked(leaf), "name")
---
Half(leaf).computed
---
Half(attribute).computed
---
class Own:
    def __getattr__(self, name): attribute()
Own().mine
---
class Own:
    def __getattr__(self, name): attribute()
getattr(Own(), "mine")
---
Shown(leaf) == 1
---
f"{Shown(leaf)}"
---
bool(Shown(leaf))
---
Missing(leaf)["key"]
---
Constructed.function = staticmethod(leaf)
Constructed()
---
finish(awaited(leaf))
---
exec("leaf()", globals())
---
class Body: leaf()
---
try: raise ExceptionGroup("", [KeyError()])
except* ValueError: pass
---
import tempfile
with tempfile.TemporaryDirectory() as folder: leaf()
---
import warnings
with warnings.catch_warnings(): leaf()
---
import decimal
with decimal.localcontext(): leaf()
---
import unittest.mock
with unittest.mock.patch("sys.stdout"): leaf()
---
import unittest
case = unittest.TestCase()
with case.assertRaises(ValueError): leaf()
---
async def manager():
    async with asynchronous(ValueError): leaf()
finish(manager())
"""

UNKNOWN = """
try: leaf()
except KeyError:
    if flag: raise
---
try: leaf()
except KeyError as error: kept = error
raise kept
---
try: leaf()
finally:
    if not flag: return
---
with Choosing(): leaf()
---
with (Plain() if flag else made): leaf()
---
Asked(attribute).computed
---
functools.reduce(lambda x, y: stop(), map(len, ["", ""]))
---
import io
class Other(io.TextIOBase):
    def __getattr__(self, name): attribute()
Other().closed  # C code asks it for `__IOBase_closed`
---
import types
class Parameter:
    def __getattr__(self, name): attribute()
types.GenericAlias(list, (Parameter(),)).__parameters__
---
import io
class Raw(io.RawIOBase):
    def readable(self): return True
    def tell(self): raise io.UnsupportedOperation
io.BufferedReader(Raw())
---
try: leaf()
except unknown().kind: pass
---
try: raise ExceptionGroup("", [KeyError(), ValueError()])
except* KeyError: pass
---
async def manager():
    async with asyncio.TaskGroup(): leaf()
asyncio.run(manager())
"""

MORE = """
import asyncio
class asynchronous:
    def __init__(self, kind=KeyError): self.kind = kind
    async def __aenter__(self): return self
    async def __aexit__(self, kind, *exc): return AEXIT
class ended:
    def __aiter__(self): return self
    async def __anext__(self): raise StopAsyncIteration
def unknown(): return types.SimpleNamespace(kind=ValueError)
flag = True
def leaf(): raise KeyError("leaf")
def attribute(): raise AttributeError("name")
def stop(): raise StopIteration
def index(): raise IndexError
"""


def first_episode(body):
    text = PRELUDE + MORE.replace("AEXIT", "None" if "ValueError" in body else "True")
    text += "def main():\n" + "".join(f"    {line}\n" for line in body.splitlines())
    namespace = {"__name__": "program"}
    exec(compile(text, "<program>", "exec"), namespace)
    thread = threading.Thread(target=namespace["main"])
    hook, threading.excepthook = threading.excepthook, lambda _: None
    oracle = Oracle()
    try:
        with oracle:
            thread.start()
            thread.join()
    finally:
        threading.excepthook = hook
    episodes = [each for each in oracle.episodes if each.code.co_filename in ("<program>", "<string>")]
    assert episodes, body
    wrong = [str(each) for each in episodes if each.verdict in ("wrong", "misplaced")]
    assert not wrong, f"{body}\n{wrong}"
    return episodes[0]


def expect(outcome, bodies):
    failed = []
    for body in bodies.strip("\n").split("\n---\n"):
        episode = first_episode(body)
        if episode.outcome != outcome:
            failed.append(f"{body}\n    {episode}")
    assert not failed, "\n".join(failed)


def check_what_is_caught():
    expect("caught", CAUGHT)


def check_what_is_not_caught():
    expect("uncaught", UNCAUGHT)


def check_what_cannot_be_known():
    expect("unknown", UNKNOWN)


def check_what_becomes_of_exceptions_of_tasks():
    async def fails():
        raise KeyError

    async def main():
        await asyncio.gather(fails(), return_exceptions=True)

    oracle = Oracle()
    with oracle:
        asyncio.run(main())
    [episode] = [each for each in oracle.episodes if each.code is fails.__code__]
    assert (episode.outcome, episode.runner) == ("uncaught", "kept for the caller")


def check_what_a_pool_of_threads_keeps():
    from concurrent.futures import ThreadPoolExecutor

    def fails():
        raise KeyError

    oracle = Oracle()
    with oracle, ThreadPoolExecutor(1) as pool:
        pool.submit(fails).exception()
    [episode] = [each for each in oracle.episodes if each.code is fails.__code__]
    assert (episode.outcome, episode.runner) == ("uncaught", "kept for the caller")


def check_what_fails_a_test():
    import io
    import unittest

    class Case(unittest.TestCase):
        def test_fails(self):
            with self.subTest():
                self.fail()
            self.fail()

        def test_is_skipped(self):
            self.skipTest("")

    oracle = Oracle()
    with oracle:
        unittest.TextTestRunner(io.StringIO()).run(unittest.defaultTestLoader.loadTestsFromTestCase(Case))
    by_name = {(each.kind.__name__, each.outcome, each.runner, each.how) for each in oracle.episodes}
    assert ("AssertionError", "uncaught", "fails the test", None) in by_name
    assert ("SkipTest", "caught", None, "test outcome") in by_name
