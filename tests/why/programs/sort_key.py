"""Which release of a package an updater picks."""

from dataclasses import dataclass


@dataclass
class Release:
    tag: str
    size: int
    yanked: bool = False

    @property
    def version(self):
        return self.tag.removeprefix("v").split(".")  # CAUSE


class Index:
    def __init__(self):
        self._releases = {}

    def publish(self, name, *releases):
        self._releases.setdefault(name, []).extend(releases)

    def yank(self, name, tag):
        for release in self._releases[name]:
            if release.tag == tag:
                release.yanked = True

    def newest(self, name):
        usable = [release for release in self._releases[name] if not release.yanked]
        usable.sort(key=lambda release: release.version)  # CAUSE
        return usable[-1]


def update(index, installed):
    changes = {}
    for name, tag in installed.items():
        newest = index.newest(name)
        if newest.tag != tag:
            changes[name] = newest.tag
    return changes


index = Index()
index.publish("lamp", Release("v1.8.0", 120), Release("v1.10.1", 131), Release("v1.9.2", 128), Release("v2.0.0", 140))
index.publish("wick", Release("v0.3", 12), Release("v0.4", 14))
index.yank("lamp", "v2.0.0")
changes = update(index, {"lamp": "v1.8.0", "wick": "v0.4"})
print(len(changes), "to change")
assert changes == {"lamp": "v1.10.1"}
