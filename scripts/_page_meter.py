"""Chromium's own numbers of one page: memory, processor time, and which of its files takes how much of that."""

import os
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from playwright.sync_api import CDPSession, Page

YARDSTICK_MS = 6.5
"""What `YARDSTICK` takes on the machine on which these bounds were set."""

YARDSTICK = """() => {
  const list = document.createElement('ul');
  const began = performance.now();
  for (let number = 0; number < 4000; number += 1) {
    const row = document.createElement('li');
    row.textContent = `${number} ${JSON.stringify({number, half: number / 2})}`;
    list.append(row);
  }
  const texts = [...list.children].map((row) => row.textContent).sort();
  return [performance.now() - began, texts.length];
}"""
"""Work as the page's: nodes, texts and a sort."""

MOST_FILES = 16
"""Of the profile, in its print."""


class Meter:
    """Chromium's numbers of one page."""

    def __init__(self, page: "Page") -> None:
        self.session: CDPSession = page.context.new_cdp_session(page)
        # Of the thread: wall-clock time says little on a shared machine.
        self.session.send("Performance.enable", {"timeDomain": "threadTicks"})

    def read(self) -> dict[str, float]:
        """Return the metrics by name, and `cpu`: seconds of the renderers; Chromium has one in reserve."""
        found = self.session.send("Performance.getMetrics")["metrics"]
        return {each["name"]: each["value"] for each in found} | {"cpu": sum(map(_cpu_seconds, _renderers()))}

    def heap(self) -> float:
        """Return the bytes of the heap after a collection."""
        self.session.send("HeapProfiler.collectGarbage")
        return self.read()["JSHeapUsedSize"]


def _renderers() -> list[int]:
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes()
        except OSError:
            continue
        if b"--type=renderer" in words and f"page-cost-{os.getpid()}".encode() in words:
            found.append(int(folder.name))
    return found


def _cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def slowness(page: "Page") -> float:
    """Return how many times slower this machine is now than the one on which the bounds were set; 1 if it is faster."""
    milliseconds = min(float(page.evaluate(YARDSTICK)[0]) for _ in range(15))
    slow = milliseconds / YARDSTICK_MS
    print(f"the fixed piece of work: {milliseconds:.1f} ms, {slow:.2f} times what it took where the bounds were set")
    return max(1.0, slow)


def profiled(meter: Meter, act: Callable[[], object]) -> None:
    """Print what part of the page's script each of its files takes; what the browser does for one counts as its own."""
    meter.session.send("Profiler.enable")
    meter.session.send("Profiler.setSamplingInterval", {"interval": 200})
    meter.session.send("Profiler.start")
    act()
    profile = meter.session.send("Profiler.stop")["profile"]
    nodes = {node["id"]: node for node in profile["nodes"]}
    parents = {child: node["id"] for node in profile["nodes"] for child in node.get("children", ())}
    spent: Counter[str] = Counter()
    for number, microseconds in zip(profile["samples"], profile["timeDeltas"], strict=True):
        spent[_file_of(number, nodes, parents)] += microseconds
    for idle in ("(idle)", "(program)", "(root)"):
        spent.pop(idle, None)
    print("by file, in ms of all of these, profiled:")
    for name, microseconds in spent.most_common(MOST_FILES):
        print(f"  {microseconds / 1000:7.1f}  {microseconds / spent.total():4.0%}  {name}")


def _file_of(number: int, nodes: dict[int, Any], parents: dict[int, int]) -> str:
    """Return the file of the page that a sample is in, or the name of what the browser does by itself."""
    leaf = nodes[number]["callFrame"]["functionName"]
    while True:
        frame = nodes[number]["callFrame"]
        if frame["url"].startswith("http"):
            return str(urlsplit(frame["url"]).path).lstrip("/")
        if number not in parents:
            return str(leaf)
        number = parents[number]
