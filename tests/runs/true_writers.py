"""What truly wrote each value that a program reads, statement by statement. Run as a program, on 3.13:

    python true_writers.py one.py two.py        # a line of JSON for each program: output, what is said, lines' rounds

It compares the whole state between any two events of the interpreter, so it needs neither plans nor guesses. Every
object is held, so that an identity is one for good. A statement is (line, how often it had begun): each stands on one
line. What is said of each: (line, round, path, last writer of that place or null, last one to change the container).
"""

# mypy: ignore-errors

import ast
import io
import json
import sys
from contextlib import redirect_stdout
from pathlib import Path


class Writers:
    """The state of one program, and who has changed it last."""

    def __init__(self, file):
        self.file = file
        self.text = Path(file).read_text()
        self.reads = reads_of(self.text)
        self.rounds = {}
        self.now = None
        self.held = []
        self.known = {}
        self.places = {}
        self.contents = {}
        self.said = []
        self.frames = {}
        self.stack = []
        self.current = {}

    # --- State --------------------------------------------------------------------------------------------------------

    def state(self):
        """Return {(id, key): id of the value} of all that can be reached."""
        found, seen, left = {}, set(), []
        reached = self.reached = set()
        for frame, names in [(frame, frame.f_locals) for frame in self.frames.values()]:
            is_module = frame.f_code.co_name == "<module>"
            owner = id(names) if is_module else id(frame)
            reached.add(owner)
            for name, value in list(names.items()):
                if name[:2] != "__":
                    found[owner, name] = id(value)
                    left.append(value)
        while left:
            value = left.pop()
            if id(value) in seen:
                continue
            seen.add(id(value))
            reached.add(id(value))
            self.held.append(value)
            for key, inner in parts(value):
                found[id(value), key] = id(inner)
                left.append(inner)
        return found

    def compare(self):
        """What differs since the last event was done by the statement under way."""
        state = self.state()
        gone = [place for place in self.known if place[0] in self.reached and place not in state]
        for place in (*state, *gone):
            if state.get(place) != self.known.get(place):
                self.places[place] = self.now
                self.contents[place[0]] = self.now
        self.known.update(state)  # what cannot be reached now may be later: a result that is not stored yet
        for place in gone:
            del self.known[place]

    # --- Events -------------------------------------------------------------------------------------------------------

    def trace(self, frame, event, argument):
        if frame.f_code.co_filename != self.file:
            return None
        if event == "call":
            self.held.append(frame)
            self.frames[id(frame)] = frame
            self.stack.append(self.now)
        self.compare()
        if event == "call":
            self.now = self.current.get(id(frame), self.now)  # of a generator that is continued: its own statement
        if event == "line":
            line = frame.f_lineno
            self.rounds[line] = self.rounds.get(line, 0) + 1
            self.now = self.current[id(frame)] = (line, self.rounds[line])
            for path in self.reads.get((frame.f_code.co_name == "<module>", line), ()):
                self.say(frame, path)
        elif event == "return":
            self.frames.pop(id(frame), None)
            self.now = self.stack.pop() if self.stack else None
        return self.trace

    def say(self, frame, path):
        names = frame.f_locals
        name, steps = path
        if name in names:
            owner = id(names) if frame.f_code.co_name == "<module>" else id(frame)
            value = names[name]
        elif name in frame.f_globals:
            owner, value = id(frame.f_globals), frame.f_globals[name]
        else:
            return
        key = name
        for step in steps:
            owner, key = id(value), step
            inner = [each for known, each in parts(value) if known == step]
            if not inner:
                return
            value = inner[0]
        writer = self.places.get((owner, key))
        self.said.append(
            [*self.now, shown(path), writer, self.contents.get(id(value)) if is_container(value) else None]
        )


def is_container(value):
    return type(value) in (list, dict, set)


def parts(value):
    """Return (key, part) of what a container or an object has."""
    kind = type(value)
    if kind is list or kind is tuple:
        return [(f"[{place}]", inner) for place, inner in enumerate(value)]
    if kind is dict:
        return [(f"[{key!r}]", inner) for key, inner in value.items()]
    if kind is set:
        return [(f"[{inner!r}]", inner) for inner in value]
    found = getattr(value, "__dict__", None)
    if kind is type:  # what its instances have in common
        return [(f".{key}", inner) for key, inner in list(found.items()) if type(inner) in (list, dict, set)]
    if type(found) is dict and kind is not type(sys):
        return [(f".{key}", inner) for key, inner in found.items()]
    slots = getattr(kind, "__slots__", ())
    return [(f".{key}", getattr(value, key)) for key in slots if hasattr(value, key)]


def shown(path):
    return path[0] + "".join(path[1])


def reads_of(text):
    """Return {(whether at the top, line): paths} of what each statement reads, as far as names and constants lead."""
    found = {}

    def visit(node, at_top):
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.stmt):
                paths = found.setdefault((at_top, child.lineno), [])
                if not isinstance(child, (ast.FunctionDef, ast.ClassDef)):
                    head(child, paths)
                inner = isinstance(child, (ast.FunctionDef, ast.ClassDef))
                visit(child, at_top and not inner)
            elif isinstance(child, ast.excepthandler):
                visit(child, at_top)

    def head(statement, paths):
        for child in ast.iter_child_nodes(statement):
            if isinstance(child, ast.expr):
                expressions(child, paths)

    def expressions(node, paths):
        path = path_of(node)
        if path is not None:
            paths.append(path)
            return
        if isinstance(node, (ast.Lambda, ast.ListComp, ast.DictComp, ast.SetComp, ast.GeneratorExp)):
            if not isinstance(node, ast.Lambda):
                expressions(node.generators[0].iter, paths)
            return
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            expressions(node.func.value, paths)
            for each in [*node.args, *[keyword.value for keyword in node.keywords]]:
                expressions(each, paths)
            return
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                expressions(child, paths)

    visit(ast.parse(text), True)
    return found


def path_of(node):
    steps = []
    while isinstance(node, (ast.Attribute, ast.Subscript)) and isinstance(node.ctx, ast.Load):
        if isinstance(node, ast.Attribute):
            steps.append(f".{node.attr}")
        elif isinstance(node.slice, ast.Constant):
            steps.append(f"[{node.slice.value!r}]")
        else:
            return None
        node = node.value
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
        return node.id, tuple(reversed(steps))
    return None


def main():
    for file in sys.argv[1:]:
        writers = Writers(file)
        code = compile(writers.text, file, "exec")
        printed = io.StringIO()
        with redirect_stdout(printed):
            sys.settrace(writers.trace)
            try:
                exec(code, {"__name__": "program", "__file__": file})
            finally:
                sys.settrace(None)
        sys.stdout.write(json.dumps([printed.getvalue(), writers.said, list(writers.rounds.items())]) + "\n")


if __name__ == "__main__":
    main()
