"""A nightly job that removes old files, configured by the environment."""

import os
from dataclasses import dataclass

ENV_FILE = """
# the nightly job
CLEANER_KEEP_DAYS=14
CLEANER_DRY_RUN=0
CLEANER_ROOT="/var/spool/exports"
"""


def load_env(text, prefix="CLEANER_"):
    for line in text.splitlines():
        if not line.startswith(prefix):
            continue
        name, _, value = line.partition("=")
        os.environ[name] = value.strip().strip('"')


@dataclass
class Config:
    root: str
    keep_days: int
    dry_run: bool

    @classmethod
    def from_environment(cls):
        return cls(
            root=os.environ.get("CLEANER_ROOT", "/tmp"),
            keep_days=int(os.environ.get("CLEANER_KEEP_DAYS", "30")),
            dry_run=bool(os.environ.get("CLEANER_DRY_RUN", "")),  # CAUSE
        )


def clean(ages, config):
    removed = []
    for name, age in sorted(ages.items()):
        if age <= config.keep_days:
            continue
        if not config.dry_run:
            removed.append(f"{config.root}/{name}")
    return removed


load_env(ENV_FILE)
config = Config.from_environment()
removed = clean({"jan.csv": 45, "feb.csv": 20, "mar.csv": 3}, config)
print(config.root, config.keep_days, len(removed))
assert removed == ["/var/spool/exports/feb.csv", "/var/spool/exports/jan.csv"]
