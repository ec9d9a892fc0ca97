import configparser
from collections import ChainMap

DEFAULTS = {"host": "localhost", "port": "8000", "workers": "2", "mode": "dev"}

FILE = """
[service]
host = 10.0.0.5
workers = 8

[logging]
level = info
"""

ENVIRON = {
    "HOME": "/root",
    "SVC_PORT": "9100",
    "SVC_WORKERS": "4",
    "SVC_MODE": "live",
}


def from_file(text, section):
    parser = configparser.ConfigParser()
    parser.read_string(text)
    return dict(parser[section])


def from_environ(environ, prefix="SVC_"):
    return {
        name[len(prefix):].lower(): value
        for name, value in environ.items()
        if name.startswith(prefix)
    }


def load(text, environ):
    """Environment first, then the file, then what is built in."""
    file_part = from_file(text, "service")
    env_part = from_environ(environ)
    return ChainMap(file_part, env_part, DEFAULTS)  # CAUSE


class Service:
    def __init__(self, settings):
        self.address = (settings["host"], int(settings["port"]))
        self.live = settings["mode"] == "live"
        self.pool = [f"worker-{i}" for i in range(int(settings["workers"]))]

    def assign(self, jobs):
        plan = {name: [] for name in self.pool}
        for i, job in enumerate(jobs):
            plan[self.pool[i % len(self.pool)]].append(job)
        return plan


settings = load(FILE, ENVIRON)
service = Service(settings)
plan = service.assign(range(100, 112))
loads = sorted(len(jobs) for jobs in plan.values())
print(service.address, service.live, loads)
assert service.address == ("10.0.0.5", 9100)
assert service.live
assert loads == [3, 3, 3, 3], loads
