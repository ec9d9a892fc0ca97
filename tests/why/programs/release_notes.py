# ask: latest["billing"]
import re

TAGS = [
    "billing-1.2.0",
    "billing-1.9.3",
    "search-0.4.1",
    "billing-1.10.0",
    "search-0.4.0",
    "mailer-2.0.0",
    "search-0.3.9",
    "nightly",
]

PATTERN = re.compile(r"(?P<package>[a-z]+)-(?P<version>\d+\.\d+\.\d+)$")


class Release:
    def __init__(self, package, version):
        self.package = package
        self.version = version

    @property
    def sort_key(self):
        return self.version.split(".")  # CAUSE

    def __repr__(self):
        return f"{self.package} {self.version}"


def parse(tags):
    skipped = []
    releases = []
    for tag in tags:
        match = PATTERN.match(tag)
        if match is None:
            skipped.append(tag)
            continue
        releases.append(Release(match["package"], match["version"]))
    return releases, skipped


def group(releases):
    groups = {}
    for release in releases:
        groups.setdefault(release.package, []).append(release)
    return groups


def newest(groups):
    chosen = {}
    for package, members in groups.items():
        ordered = sorted(members, key=lambda r: r.sort_key)
        chosen[package] = ordered[-1].version
    return chosen


releases, skipped = parse(TAGS)
groups = group(releases)
latest = newest(groups)
for package in sorted(latest):
    print(package.ljust(10), latest[package], f"({len(groups[package])} releases)")
print("skipped:", ", ".join(skipped))
