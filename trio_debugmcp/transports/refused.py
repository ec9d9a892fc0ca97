"""`Refused`: an HTTP request that is answered with an error. Imports no parser of HTTP."""

from collections.abc import Mapping
from http import HTTPStatus


class Refused(Exception):
    """The request is refused with that status; the port, or the HTTP application, sends the response."""

    def __init__(self, status: HTTPStatus, reason: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(f"{status.value} {reason}")
        self.status = status
        self.reason = reason
        self.headers = dict(headers or {})
