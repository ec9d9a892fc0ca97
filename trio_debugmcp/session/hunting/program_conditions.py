"""The conditions of one try of a hunt, set in the program before its first line. Runs there, on Python 3.8 and newer.

    set_conditions({"seed": 17, "switchInterval": 0.00001, "turns": None})

What a module of the program draws at random is seeded when the program imports it, so nothing is imported for this.
"""

import sys
from typing import Any


def set_conditions(given: Any) -> None:
    """Set the switch interval now, and the rest when the modules that it is about are imported; leave a mark of it."""
    import posix

    seed = given["seed"]
    posix.close(posix.open(f"{given['home']}/are_set", posix.O_CREAT | posix.O_WRONLY, 0o600))
    if given["switchInterval"]:
        sys.setswitchinterval(given["switchInterval"])
    actions = {
        "random": lambda module: module.seed(seed),
        "numpy.random": lambda module: module.seed(seed % (1 << 32)),
        "pytest_randomly": lambda module: setattr(module, "default_seed", seed),
        "trio._core._run": lambda module: module._r.seed(seed),  # noqa: SLF001 (its scheduler draws from it)
    }
    if given["turns"] is not None:
        actions["asyncio.base_events"] = lambda module: shake_tasks(module, given["turns"])
    AfterImport(actions)


class AfterImport:
    """A finder of modules that finds none itself, and acts on some of those that others find."""

    def __init__(self, actions: Any) -> None:
        self.actions = actions
        for name in [each for each in actions if each in sys.modules]:
            self.act(name, sys.modules[name])
        sys.meta_path.insert(0, self)

    def find_spec(self, name: Any, path: Any = None, target: Any = None) -> Any:
        """Find a module as the finders behind this one do, and have it acted on when it has been executed."""
        if name not in self.actions:
            return None
        for finder in sys.meta_path:
            find = None if finder is self else getattr(finder, "find_spec", None)
            spec = None if find is None else find(name, path, target)
            if spec is not None:
                self.follow(name, spec.loader)
                return spec
        return None

    def follow(self, name: Any, loader: Any) -> None:
        """Act on a module when its loader has executed it."""
        execute: Any = getattr(loader, "exec_module", None)

        def exec_module(module: Any) -> None:
            del loader.exec_module
            execute(module)
            self.act(name, module)

        if execute is not None and not isinstance(loader, type):
            loader.exec_module = exec_module

    def act(self, name: Any, module: Any) -> None:
        """Act on a module, once; one of a version that has not what is looked for is left alone."""
        try:
            self.actions.pop(name)(module)
        except Exception:  # noqa: BLE001 (whatever a module of that name is)
            return


def shake_tasks(module: Any, seed: Any) -> None:
    """Have the tasks that are ready in an asyncio loop take their turns in a random order; other callbacks stay."""
    import _random

    draw = _random.Random(seed).random
    loop = module.BaseEventLoop
    run_once = loop._run_once  # noqa: SLF001 (there is no other place where tasks wait for their turn)

    def _run_once(self: Any) -> Any:
        ready = self._ready
        places = [place for place, handle in enumerate(ready) if is_task(handle)] if len(ready) > 1 else []
        for last in range(len(places) - 1, 0, -1):
            one, other = places[last], places[int(draw() * (last + 1))]
            ready[one], ready[other] = ready[other], ready[one]
        return run_once(self)

    loop._run_once = _run_once  # noqa: SLF001


def is_task(handle: Any) -> bool:
    """Whether what is ready is the next step of a task."""
    return hasattr(getattr(getattr(handle, "_callback", None), "__self__", None), "get_coro")
