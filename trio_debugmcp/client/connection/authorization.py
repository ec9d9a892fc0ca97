"""OAuth for HTTP targets: the SDK's provider with stored tokens, and a person who is asked through a browser.

    auth = await authorization(url, oauth, deadlines)        # an `httpx2.Auth`

What the SDK's provider forgets when a program ends is kept here with the tokens: when they expire, and where they are
refreshed. Without it an expired token would be sent until it is refused, and refreshed at the wrong server.
"""

import logging
import time
from collections.abc import AsyncGenerator
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2
from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider, OAuthFlowError
from mcp.shared.auth import (
    OAuthClientInformationFull,
    OAuthClientMetadata,
    OAuthMetadata,
    OAuthToken,
    ProtectedResourceMetadata,
)
from pydantic import AnyUrl

from trio_debugmcp.client.client_errors import NotAuthorized
from trio_debugmcp.client.connection.connection_end import shown_url
from trio_debugmcp.client.connection.redirect import RedirectListener, redirect_uri
from trio_debugmcp.client.connection.token_file import TokenFile
from trio_debugmcp.client.oauth import OAuth, default_store
from trio_debugmcp.deadlines import Deadlines
from trio_debugmcp.errors import UsageError

HINT = "If you have a token, pass it as a header: Authorization: Bearer TOKEN"

WANTS_TOKEN = (
    "{url} wants a token, and names no server that would authorise you: pass the token as a header, "
    "at the command line with --header 'Authorization: Bearer TOKEN'. `trio-debugmcp serve` prints its tokens when it "
    "starts, unless they were given to it"
)

_UNAUTHORIZED = 401

_REFUSALS = (_UNAUTHORIZED, 403)
"""After which the SDK asks for an authorisation: for any, or for one with a larger scope."""


async def authorization(url: str, oauth: OAuth, deadlines: Deadlines) -> httpx2.Auth:
    """What authorises the requests to `url`, as `oauth` permits.

    Raises:
        NotAuthorized: the stored tokens cannot be read.
        UsageError: `oauth` contradicts itself.
    """
    # The SDK logs each failed flow with its traceback; the same failure is raised, as one sentence.
    logging.getLogger("mcp.client.auth.oauth2").addHandler(logging.NullHandler())
    stored = TokenFile(oauth.store or default_store(url))
    if oauth.grant == "client_credentials":
        return _Explained(url, _by_credentials(url, oauth, stored))
    grant = stored.read()
    if oauth.open_url is None and grant.tokens is None:
        return _Refusal(url)
    registered = grant.client["redirect_uris"][0] if grant.client and grant.client.get("redirect_uris") else None
    port = oauth.port or (registered and urlsplit(registered).port) or 0
    return _Explained(url, _Provider(url, oauth, stored, port, deadlines))


class _Storage:
    """The SDK's `TokenStorage` on a `TokenFile`; knows the provider's context, to keep what belongs to the tokens."""

    def __init__(self, file: TokenFile) -> None:
        self._file = file
        self.context: Any  # the provider's `OAuthContext`: set when the provider is made, which needs its storage first

    async def get_tokens(self) -> OAuthToken | None:
        grant = self._file.read()
        if grant.tokens is None:
            return None
        context = self.context
        context.token_expiry_time = grant.expires_at
        context.auth_server_url = grant.issuer
        if grant.metadata is not None:
            context.oauth_metadata = OAuthMetadata.model_validate(grant.metadata)
        if grant.resource is not None:
            context.protected_resource_metadata = ProtectedResourceMetadata.model_validate(grant.resource)
        return OAuthToken.model_validate(grant.tokens)

    async def set_tokens(self, tokens: OAuthToken) -> None:
        context = self.context
        grant = self._file.read()
        grant.tokens = _as_json(tokens)
        grant.expires_at = None if tokens.expires_in is None else time.time() + tokens.expires_in
        grant.metadata = _as_json(context.oauth_metadata)
        grant.resource = _as_json(context.protected_resource_metadata)
        grant.issuer = context.auth_server_url
        self._file.write(grant)

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        client = self._file.read().client
        return None if client is None else OAuthClientInformationFull.model_validate(client)

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        grant = self._file.read()
        if grant.client is not None and grant.client.get("client_id") != client_info.client_id:
            grant.tokens = grant.expires_at = None  # they were issued to the client that is replaced
        grant.client = _as_json(client_info)
        self._file.write(grant)


def _as_json(model: Any) -> dict[str, Any] | None:
    return None if model is None else model.model_dump(mode="json", exclude_none=True)


class _Provider(OAuthClientProvider):
    """The authorization code grant: a person is asked in a browser, our listener on loopback gets the answer."""

    def __init__(self, url: str, oauth: OAuth, file: TokenFile, port: int, deadlines: Deadlines) -> None:
        # Registered beforehand: HTTP Basic, the one method that every server with secrets has (RFC 6749, 2.3.1).
        method: Any = "none" if oauth.client_secret is None else "client_secret_basic"
        metadata = OAuthClientMetadata(
            client_name="trio-debugmcp",
            redirect_uris=[AnyUrl(redirect_uri(port))],  # of port 0: until a refusal makes the listener choose one
            grant_types=["authorization_code", "refresh_token"],
            response_types=["code"],
            scope=oauth.scope,
            token_endpoint_auth_method=method if oauth.client_id else None,
        )
        storage = _Storage(file)
        super().__init__(
            url, metadata, storage, self._remember, self._ask, client_metadata_url=oauth.client_metadata_url
        )
        storage.context = self.context
        self._url = url
        self._oauth = oauth
        self._listener = RedirectListener(port)
        self._deadlines = deadlines
        self._page = ""

    async def async_auth_flow(self, request: httpx2.Request) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        """The SDK's flow, with the listener open from a refusal on: the server has its port before the person is asked.

        The SDK lets one flow at a time come as far as a request.
        """
        flow = super().async_auth_flow(request)
        is_refused = False
        try:
            outgoing = await anext(flow)
            while True:
                response = yield outgoing
                if response.status_code in _REFUSALS and self._oauth.open_url is not None:
                    is_refused = True
                    await self._listener.open()
                    self.context.client_metadata.redirect_uris = [AnyUrl(redirect_uri(self._listener.port))]
                outgoing = await flow.asend(response)
        except StopAsyncIteration:
            return
        finally:
            if is_refused:  # else it is another flow's, for whose end this one has waited
                self._listener.close()
            await flow.aclose()

    async def _initialize(self) -> None:
        await super()._initialize()
        oauth = self._oauth
        if oauth.client_id is not None:
            self.context.client_info = OAuthClientInformationFull(
                client_id=oauth.client_id,
                client_secret=oauth.client_secret,
                redirect_uris=self.context.client_metadata.redirect_uris,
                token_endpoint_auth_method=self.context.client_metadata.token_endpoint_auth_method,
                issuer=oauth.issuer,
            )

    async def _remember(self, page: str) -> None:
        self._page = page

    async def _ask(self) -> AuthorizationCodeResult:
        """Bring a person to the page and wait for the answer, within the bound that the options set."""
        show = self._oauth.open_url
        if show is None:
            raise NotAuthorized(
                f"{self._url} does not accept the stored tokens any more; run the command in a terminal to authorise"
            )
        page = self._page
        (state,) = parse_qs(urlsplit(page).query)["state"]
        with self._deadlines.paused():
            answer = await self._listener.wait(state, lambda: show(page), self._oauth.wait)
        return AuthorizationCodeResult.model_validate(answer)


class _Refusal(httpx2.Auth):
    """Neither tokens nor a person to ask: if the server wants an authorisation, the connection ends with the reason."""

    def __init__(self, url: str) -> None:
        self._url = url

    async def async_auth_flow(self, request: httpx2.Request) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        response = yield request
        if _wants_token(response):
            raise NotAuthorized(WANTS_TOKEN.format(url=shown_url(self._url)))
        if response.status_code == _UNAUTHORIZED:
            raise NotAuthorized(
                f"{self._url} requires an authorisation, and there is no person to ask here. "
                f"Run the command in a terminal once, its tokens are stored. {HINT}"
            )


class _Explained(httpx2.Auth):
    """A provider of the SDK, with its failures as `NotAuthorized`."""

    requires_response_body = True

    def __init__(self, url: str, provider: httpx2.Auth) -> None:
        self._url = url
        self._provider = provider

    async def async_auth_flow(self, request: httpx2.Request) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        flow = self._provider.async_auth_flow(request)
        plain = False
        try:
            outgoing = await anext(flow)
            while True:
                response = yield outgoing
                plain = plain or _wants_token(response)
                outgoing = await flow.asend(response)
        except StopAsyncIteration:
            return
        except OAuthFlowError as error:
            if plain:  # nothing was found at the usual places either
                raise NotAuthorized(f"{WANTS_TOKEN.format(url=shown_url(self._url))} ({error})") from error
            raise NotAuthorized(f"{self._url} requires an authorisation, which failed: {error}. {HINT}") from error
        finally:
            await flow.aclose()


def _wants_token(response: httpx2.Response) -> bool:
    """Whether a refusal is of a server with tokens of its own: one with OAuth says where its metadata is (RFC 9728)."""
    challenge = response.headers.get("www-authenticate", "")
    return (
        response.status_code == _UNAUTHORIZED
        and challenge.lower().startswith("bearer")
        and "resource_metadata" not in challenge.lower()
    )


def _by_credentials(url: str, oauth: OAuth, file: TokenFile) -> httpx2.Auth:
    # Here: it loads PyJWT and with it cryptography, for the one grant that few use.
    from mcp.client.auth.extensions.client_credentials import ClientCredentialsOAuthProvider

    if oauth.client_id is None or oauth.client_secret is None or oauth.issuer is None:
        raise UsageError("INVALID_PARAMETER", "client_credentials needs client_id, client_secret and issuer")
    storage = _Storage(file)
    provider = ClientCredentialsOAuthProvider(
        url, storage, oauth.client_id, oauth.client_secret, scope=oauth.scope, issuer=oauth.issuer
    )
    storage.context = provider.context
    return provider
