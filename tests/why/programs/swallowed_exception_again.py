"""Plugins of an editor: each may say how it wants to be set up."""

from contextlib import suppress

SETTINGS = {
    "spelling": {"language": "en", "enabled": True},
    "lint": {"enabled": True},
    "stats": {"enabled": False},
}


class Plugin:
    name = ""
    needs = ()

    def __init__(self):
        self.values = {}
        self.language = None
        self.enabled = False

    def configure(self, settings):
        with suppress(KeyError):  # CAUSE
            self.language = settings["language"]
            self.enabled = settings["enabled"]


class Spelling(Plugin):
    name = "spelling"

    def run(self, text):
        return [word for word in text.split() if word == "teh"]


class Lint(Plugin):
    name = "lint"

    def run(self, text):
        return [line for line in text.splitlines() if line != line.rstrip()]


def start(kinds):
    plugins = [kind() for kind in kinds]
    for plugin in plugins:
        plugin.configure(SETTINGS.get(plugin.name, {}))
    return {plugin.name: plugin for plugin in plugins if plugin.enabled}


def check(plugins, text, order):
    return {name: plugins[name].run(text) for name in order}


running = start([Spelling, Lint])
print(len(running), "running")
findings = check(running, "teh end \nof it", ["spelling", "lint"])
print(sum(map(len, findings.values())), "findings")
