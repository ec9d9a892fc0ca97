"""How a client may obtain a token for a server behind OAuth, as one frozen struct.

    options = InspectorOptions(oauth=OAuth(open_url=show))      # `show` brings a person to the URL
    options = InspectorOptions(oauth=OAuth(client_id="ci", client_secret=secret, grant="client_credentials"))

`connection/authorization.py` carries it out, with the SDK's provider; this module imports nothing of the SDK.
"""

import hashlib
import os
import re
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from msgspec import Struct

from trio_debugmcp.home import home_directory

DEFAULT_WAIT_SECONDS = 300.0
"""For a person to log in and to consent, second factor and forgotten password included."""


class OAuth(Struct, frozen=True, kw_only=True):
    """What a client may do to be authorised. Only for `http(s)://` targets; an `Authorization` header disables it.

    Attributes:
        open_url: brings a person to the page of the authorisation server, None if there is no person to ask: then only
            stored tokens are used, and refreshed. It need not wait; the answer comes to a listener on loopback.
        store: the file with tokens and registration, made with mode 0600; None for `default_store(url)`.
        client_id: of a client that was registered beforehand; else one is registered on the first use.
        client_secret: of that client.
        client_metadata_url: an `https://` URL that describes this client, for servers that accept one as client id.
        grant: `client_credentials` asks no person, and needs `client_id`, `client_secret` and `issuer`.
        issuer: the authorisation server that issued the secret, which then is sent to no other.
        scope: what to ask for, separated by spaces; None to follow what the server asks for.
        port: of the listener, for a client that was registered with a fixed one; 0 for any.
        wait: seconds for a person to answer.
    """

    open_url: Callable[[str], Awaitable[None]] | None = None
    store: Path | None = None
    client_id: str | None = None
    client_secret: str | None = None
    client_metadata_url: str | None = None
    grant: Literal["authorization_code", "client_credentials"] = "authorization_code"
    issuer: str | None = None
    scope: str | None = None
    port: int = 0
    wait: float = DEFAULT_WAIT_SECONDS

    def __repr__(self) -> str:  # without the secret
        return f"<OAuth, {self.grant}, client {self.client_id or 'to be registered'}>"


def default_store(url: str) -> Path:
    """The file for the tokens of the server at `url`: one for each, below `$XDG_STATE_HOME`."""
    parts = urlsplit(url)
    resource = f"{parts.scheme}://{parts.netloc}{parts.path}".lower()
    host = re.sub(r"[^a-z0-9.-]", "_", parts.netloc.lower())
    name = f"{host}-{hashlib.sha256(resource.encode()).hexdigest()[:16]}.json"
    base = Path(os.environ.get("XDG_STATE_HOME") or home_directory() / ".local/state")
    return base / "trio-debugmcp" / "oauth" / name
