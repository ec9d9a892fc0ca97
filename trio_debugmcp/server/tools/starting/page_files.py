"""The program that serves the directory of an HTML file to our browser, and writes nothing: HOST PORT DIRECTORY.

It stands alone: it is run by its file. Who is not the page gets nothing: another name of this machine (a page elsewhere
that has its own name lead here), hidden files, such as `.env`, and what links out of the directory.
"""

import os
import sys
from http import HTTPStatus
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

SHOWN = ".well-known"
"""The hidden directory that is meant for everybody (RFC 8615)."""


class PageFiles(SimpleHTTPRequestHandler):
    """Answers with files of one directory."""

    server: ThreadingHTTPServer

    def send_head(self) -> Any:
        host, port = self.server.server_address[:2]
        if self.headers.get("Host") not in (f"{host!s}:{port}", f"localhost:{port}"):
            self.send_error(HTTPStatus.FORBIDDEN, f"open it as http://{host!s}:{port}/")
            return None
        path = os.path.relpath(os.path.realpath(self.translate_path(self.path)), self.directory)
        if any(part.startswith(".") and part not in (".", SHOWN) for part in path.split(os.sep)):
            self.send_error(HTTPStatus.NOT_FOUND)
            return None
        return super().send_head()

    def list_directory(self, path: Any) -> None:
        self.send_error(HTTPStatus.NOT_FOUND)

    def log_message(self, *_: Any) -> None:
        pass


def page_server(host: str, port: int, directory: str) -> ThreadingHTTPServer:
    """Return the server of a directory, which listens; the caller lets it serve, and closes it."""
    root = os.path.realpath(directory)

    def answer(*arguments: Any) -> PageFiles:
        return PageFiles(*arguments, directory=root)

    return ThreadingHTTPServer((host, port), answer)


if __name__ == "__main__":
    page_server(sys.argv[1], int(sys.argv[2]), sys.argv[3]).serve_forever()
