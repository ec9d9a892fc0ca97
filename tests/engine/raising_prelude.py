"""What the programs of the tests have at hand: managers, classes that C code asks, generators."""

PRELUDE = """
import contextlib, functools, operator, sys, threading, types

class Own(KeyError): pass
class Plain:
    def __enter__(self): return self
    def __exit__(self, *exc): return None
class Swallowing:
    def __enter__(self): return self
    def __exit__(self, *exc): return True
class Choosing:
    def __enter__(self): return self
    def __exit__(self, kind, *exc): return kind is not None and issubclass(kind, LookupError)
@contextlib.contextmanager
def passing():
    try: yield
    finally: len('')
@contextlib.contextmanager
def catching():
    try: yield
    except LookupError: pass
@contextlib.contextmanager
def translating():
    try: yield
    except LookupError as error: raise ValueError from error
@contextlib.contextmanager
def twice(flag=True):
    if flag: yield
    else:
        with contextlib.suppress(ValueError): yield
lock = threading.RLock()
numbered = (KeyError, (IndexError, (AttributeError,)))
names = types.SimpleNamespace(lookup=LookupError, both=(ValueError, TypeError))
made = Swallowing()
stored = contextlib.suppress(AttributeError)
def plain_factory(): return Plain()
def suppressing_factory(): return contextlib.suppress(KeyError)
class Asked:
    def __init__(self, function): self.function = function
    def __getattr__(self, name): return self.function()
    @property
    def computed(self): return self.function()
class Half:
    def __init__(self, function): self.function = function
    @property
    def computed(self): return self.function()
class Sequence:
    def __init__(self, function): self.function = function
    def __getitem__(self, index):
        if index == 2: return self.function() or 1
        if index > 4: raise IndexError(index)
        return 7
class Steps:
    def __init__(self, function): self.function = function
    def __iter__(self): return self
    def __next__(self):
        self.function()
        raise StopIteration
class Missing(dict):
    def __init__(self, function): self.function = function
    def __missing__(self, key): return self.function()
class Shown:
    def __init__(self, function): self.function = function
    def __str__(self): self.function(); return ""
    def __eq__(self, other): self.function(); return True
    def __hash__(self): self.function(); return 1
    def __bool__(self): self.function(); return True
    def __len__(self): self.function(); return 0
    def __iter__(self): self.function(); return iter(())
class Constructed:
    function = None
    def __init__(self): self.function()
def generated(function):
    yield 1
    function()
    yield 2
def delegated(function):
    try: yield from generated(function)
    except ZeroDivisionError: pass
async def awaited(function):
    async def inner():
        function()
    try: await inner()
    except ZeroDivisionError: pass
def finish(coroutine):
    try: coroutine.send(None)
    except StopIteration: pass
"""
