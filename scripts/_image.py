"""Build the image, run it as its entry point says, and debug a program in it over its port.

The builder is docker where its daemon answers. Elsewhere it is buildah, with a store below a temporary directory that
is removed at the end; its base is a root file system that mmdebstrap makes of Debian's packages, as no registry of
images is asked.
"""

import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from http.client import HTTPConnection
from pathlib import Path

import trio
from msgspec import Struct

from trio_debugmcp.client import InspectorClient, InspectorOptions

DOCKERFILE = "docs/deploy/Dockerfile"

IMAGE, BASE, NAME = "trio-debugmcp", "localhost/base", "debugger.example.com"

PACKAGES = "python3,python3-venv,python3-pip,ca-certificates"

START_SECONDS, RUN_SECONDS = 60, 120

CODE = "total = 0\nfor number in (3, 4):\n    total += number\nprint(total)\n"


class Builder(Struct, frozen=True):
    """A program that builds and runs images: its command, what a build and a run need beside that, and its base."""

    command: tuple[str, ...]
    build: tuple[str, ...]
    run: tuple[str, ...]


def main() -> int:
    sources = Path(__file__).parent.parent
    with tempfile.TemporaryDirectory(prefix="image-") as directory:
        builder = docker() if docker_answers() else buildah(Path(directory))
        if builder is None:
            print("neither docker's daemon nor buildah and mmdebstrap are here: apt-get install buildah mmdebstrap")
            return 1
        print("the builder is", builder.command[0], flush=True)
        context = Path(directory) / "context"
        copy_sources(sources, context)
        run(*builder.command, *builder.build, "-f", str(context / DOCKERFILE), "-t", IMAGE, str(context))
        trio.run(try_image, builder)
    return 0


def docker_answers() -> bool:
    if shutil.which("docker") is None:
        return False
    return subprocess.run(["docker", "info"], check=False, capture_output=True).returncode == 0


def docker() -> Builder:
    return Builder(("docker",), ("build",), ("run", "--rm", "--init", "--network", "host"))


def buildah(directory: Path) -> Builder | None:
    """Prepare buildah with the base; None if it or mmdebstrap is not here."""
    if shutil.which("buildah") is None or shutil.which("mmdebstrap") is None:
        return None
    command = ("buildah", "--storage-driver", "vfs", "--root", f"{directory}/store", "--runroot", f"{directory}/run")
    base = directory / "base.tar"
    run("mmdebstrap", "--variant=minbase", f"--include={PACKAGES}", "bookworm", str(base))
    run(*command, "from", "--name", "base", "scratch")
    run(*command, "add", "base", str(base), "/")
    run(*command, "commit", "base", BASE)
    certificates = "/etc/ssl/certs:/etc/ssl/certs:ro"
    build = (
        "bud",
        "--isolation",
        "chroot",
        "--format",
        "docker",
        "--volume",
        certificates,
        "--build-arg",
        f"BASE={BASE}",
    )
    return Builder(command, build, ("run", "--isolation", "chroot"))


def copy_sources(sources: Path, context: Path) -> None:
    """Copy what git knows: a working directory has environments and adapters in it."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=sources, capture_output=True, check=True).stdout
    for name in listed.decode().split("\0"):
        if name and (sources / name).is_file():
            (context / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(sources / name, context / name)


def run(*command: str) -> None:
    print("+", *command, flush=True)
    subprocess.run(command, check=True, stdout=sys.stderr)


async def try_image(builder: Builder) -> None:
    """Run the image: who is refused and who is not, and a program that is debugged."""
    token, http, page = secrets.token_urlsafe(), free_port(), free_port()
    options = ["--ws", f"127.0.0.1:{page}", "--http", f"127.0.0.1:{http}", "--allow-host", NAME]
    async with running(builder, options, token):
        await until_healthy(http)
        expect("healthz", answer(page, "/healthz", Host="10.1.2.3"), 200)
        expect("the page, by a name that is allowed", answer(page, "/", Host=NAME), 200)
        expect("the page, by another name", answer(page, "/", Host="evil.example"), 403)
        expect("a wrong token", answer(http, "/mcp", Authorization="Bearer wrong"), 401)
        with trio.fail_after(RUN_SECONDS):
            await debug_in(f"http://127.0.0.1:{http}/mcp", token)


@asynccontextmanager
async def running(builder: Builder, options: Sequence[str], token: str) -> AsyncIterator[None]:
    """Run the image's entry point with further options; it ends with the block."""
    if builder.command[0] == "buildah":  # it has no `run IMAGE`: a container is made, and given a command
        run(*builder.command, "from", "--name", "tried", f"localhost/{IMAGE}")
        entry = ["tried", "--", "trio-debugmcp", "serve", "--no-stdio"]
    else:
        entry = [IMAGE]
    async with trio.open_nursery() as nursery:
        command = [*builder.command, *builder.run, "--env", f"TRIO_DEBUGMCP_TOKEN={token}", *entry, *options]
        process = await nursery.start(partial(trio.run_process, command, check=False))
        yield
        process.terminate()


async def until_healthy(port: int) -> None:
    with trio.fail_after(START_SECONDS):
        while True:
            try:
                return expect("healthz", answer(port, "/healthz"), 200)
            except OSError:
                await trio.sleep(0.2)


def answer(port: int, path: str, **headers: str) -> int:
    """Return the status of a request."""
    connection = HTTPConnection("127.0.0.1", port, timeout=10)
    try:
        connection.request("GET", path, headers=headers)
        return connection.getresponse().status
    finally:
        connection.close()


def expect(subject: str, status: int, expected: int) -> None:
    print(f"{subject}: {status}", flush=True)
    if status != expected:
        raise SystemExit(f"{subject}: {status} instead of {expected}")


async def debug_in(url: str, token: str) -> None:
    """Debug a program in the container, to the end."""
    options = InspectorOptions(headers={"Authorization": f"Bearer {token}"})
    async with InspectorClient(url, options) as client:
        stop = await client.call_tool(
            "debug_launch", {"code": CODE, "breakpoints": [{"line": 3, "condition": "total"}]}
        )
        print(stop.text, flush=True)
        end = await client.call_tool("debug_continue", {})
        print(end.text, flush=True)
        if '"total":"3"' not in stop.text or '"stdout":"7' not in end.text:
            raise SystemExit("this is not the stop at the second round")


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


if __name__ == "__main__":
    sys.exit(main())
