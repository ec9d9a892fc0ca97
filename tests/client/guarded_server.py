"""An MCP server behind OAuth, and its authorisation server: the SDK's endpoints on loopback, in this process.

The person is `Person`: a browser that logs in at once, or refuses, or never answers.
"""

import secrets
import socket
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import httpx2
import trio
from hypercorn.config import Config
from hypercorn.trio import serve
from mcp.server.auth.provider import (
    AccessToken,
    AuthorizationCode,
    AuthorizationParams,
    AuthorizeError,
    OAuthAuthorizationServerProvider,
    RefreshToken,
    construct_redirect_uri,
)
from mcp.server.auth.settings import AuthSettings, ClientRegistrationOptions
from mcp.server.mcpserver import MCPServer
from mcp.shared.auth import OAuthClientInformationFull, OAuthToken
from pydantic import AnyHttpUrl


class Issuer(OAuthAuthorizationServerProvider[AuthorizationCode, RefreshToken, AccessToken]):
    """Registers any client and issues tokens to it; counts what it did."""

    def __init__(self) -> None:
        self.clients: dict[str, OAuthClientInformationFull] = {}
        self.codes: dict[str, AuthorizationCode] = {}
        self.access: dict[str, AccessToken] = {}
        self.refresh: dict[str, RefreshToken] = {}
        self.refuses = False
        self.lifetime = 3600
        self.authorized = self.refreshed = 0

    async def get_client(self, client_id: str) -> OAuthClientInformationFull | None:
        return self.clients.get(client_id)

    async def register_client(self, client_info: OAuthClientInformationFull) -> None:
        self.clients[client_info.client_id] = client_info

    async def authorize(self, client: OAuthClientInformationFull, params: AuthorizationParams) -> str:
        if self.refuses:
            raise AuthorizeError("access_denied", "the person has said no")
        self.authorized += 1
        code = AuthorizationCode(
            code=secrets.token_urlsafe(),
            scopes=params.scopes or [],
            expires_at=time.time() + 60,
            client_id=client.client_id,
            code_challenge=params.code_challenge,
            redirect_uri=params.redirect_uri,
            redirect_uri_provided_explicitly=params.redirect_uri_provided_explicitly,
            resource=params.resource,
        )
        self.codes[code.code] = code
        return construct_redirect_uri(str(params.redirect_uri), code=code.code, state=params.state)

    async def load_authorization_code(
        self, client: OAuthClientInformationFull, authorization_code: str
    ) -> AuthorizationCode | None:
        return self.codes.get(authorization_code)

    async def exchange_authorization_code(
        self, client: OAuthClientInformationFull, authorization_code: AuthorizationCode
    ) -> OAuthToken:
        del self.codes[authorization_code.code]
        return self._issue(client, authorization_code.scopes, authorization_code.resource)

    async def load_refresh_token(self, client: OAuthClientInformationFull, refresh_token: str) -> RefreshToken | None:
        return self.refresh.get(refresh_token)

    async def exchange_refresh_token(
        self, client: OAuthClientInformationFull, refresh_token: RefreshToken, scopes: list[str]
    ) -> OAuthToken:
        self.refreshed += 1
        del self.refresh[refresh_token.token]
        return self._issue(client, scopes, None)

    async def load_access_token(self, token: str) -> AccessToken | None:
        return self.access.get(token)

    async def revoke_token(self, token: AccessToken | RefreshToken) -> None:
        raise NotImplementedError

    async def exchange_identity_assertion(self, client: Any, params: Any) -> OAuthToken:
        raise NotImplementedError

    def _issue(self, client: OAuthClientInformationFull, scopes: list[str], resource: str | None) -> OAuthToken:
        access, refresh = secrets.token_urlsafe(), secrets.token_urlsafe()
        self.access[access] = AccessToken(
            token=access, client_id=client.client_id, scopes=scopes, expires_at=None, resource=resource
        )
        self.refresh[refresh] = RefreshToken(token=refresh, client_id=client.client_id, scopes=scopes)
        return OAuthToken(
            access_token=access, refresh_token=refresh, expires_in=self.lifetime, scope=" ".join(scopes) or None
        )


class Person:
    """A browser: follows every redirect, as far as our listener on loopback."""

    def __init__(self) -> None:
        self.asked = 0
        self.pages: list[str] = []

    async def __call__(self, page: str) -> None:
        self.asked += 1
        async with httpx2.AsyncClient(follow_redirects=True, trust_env=False, timeout=60) as browser:
            self.pages.append((await browser.get(page)).text)


@asynccontextmanager
async def open_guarded_server() -> AsyncGenerator[tuple[str, Issuer], None]:
    """Serve until the end of the block; yields the URL of the MCP server and the issuer of its tokens."""
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    base = f"http://127.0.0.1:{listener.getsockname()[1]}"
    issuer = Issuer()
    server = MCPServer(
        "guarded",
        auth_server_provider=issuer,
        auth=AuthSettings(
            issuer_url=AnyHttpUrl(base),
            resource_server_url=AnyHttpUrl(f"{base}/mcp"),
            validate_token_resource=False,
            required_scopes=["mcp"],
            client_registration_options=ClientRegistrationOptions(
                enabled=True, valid_scopes=["mcp"], default_scopes=["mcp"]
            ),
        ),
    )
    server.tool(name="whoami")(lambda: "somebody")
    config = Config()
    config.bind = [f"fd://{listener.detach()}"]
    config.graceful_timeout = 0.1
    config.loglevel = "ERROR"
    config.accesslog = config.errorlog = None
    app: Any = server.streamable_http_app()
    async with trio.open_nursery() as nursery:
        over = trio.Event()
        await nursery.start(partial(serve, app, config, shutdown_trigger=over.wait))
        yield f"{base}/mcp", issuer
        over.set()
        nursery.cancel_scope.cancel("the test is over")
