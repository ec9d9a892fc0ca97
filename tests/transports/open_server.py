"""A server over HTTP that lets everybody in, for the conformance suite, which cannot show a token. Prints its URL."""

import sys

import trio

from trio_debugmcp.app import Options, open_app
from trio_debugmcp.server.access import Role
from trio_debugmcp.transports.gate import Gate
from trio_debugmcp.transports.head import Head
from trio_debugmcp.transports.http import HttpApp, serve_http


class OpenGate(Gate[Role]):
    """Asks whence, not who."""

    def admit(self, head: Head) -> Role:
        return "control"


async def main() -> None:
    async with open_app(Options()) as app, trio.open_nursery() as nursery:
        listeners = await trio.open_tcp_listeners(0, host="127.0.0.1")
        port = listeners[0].socket.getsockname()[1]
        http_app = HttpApp(OpenGate("127.0.0.1", port, lambda _: "control"), app.open_server, nursery)
        sys.stdout.write(f"http://127.0.0.1:{port}/mcp\n")
        sys.stdout.flush()
        await serve_http(http_app, listeners)


if __name__ == "__main__":
    trio.run(main)
