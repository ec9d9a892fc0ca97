"""Options of a build tool: defaults, then those of the command line."""

import shlex


class Options:
    def __init__(self):
        self.jobs = 1
        self.output_dir = "build"
        self.keep_going = False
        self.verbose = 0

    def apply(self, pairs):
        for flag, value in pairs:
            name = flag.lstrip("-").replace("-", "")  # CAUSE
            setattr(self, name, value)
        return self


def convert(text):
    if text.isdigit():
        return int(text)
    return {"yes": True, "no": False}.get(text, text)


def split(line):
    for word in shlex.split(line):
        flag, _, value = word.partition("=")
        yield flag, convert(value) if value else True


def plan(options, targets):
    steps = []
    for number, target in enumerate(targets):
        worker = number % options.jobs
        steps.append((worker, f"{options.output_dir}/{target}"))
    return steps


def describe(steps):
    return "; ".join(f"{worker}: {path}" for worker, path in steps)


options = Options().apply(split("--jobs=2 --output-dir='/var/out' --verbose --keep-going"))
steps = plan(options, ["core.o", "main.o", "docs"])
print(describe(steps))
assert steps[-1] == (0, "/var/out/docs"), describe(steps)
