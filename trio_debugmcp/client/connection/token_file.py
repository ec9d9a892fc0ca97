"""The file in which tokens and the registration of a client are kept, for one server. Only its owner can read it."""

import os
import secrets
import stat
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from trio_debugmcp.client.client_errors import NotAuthorized

MODE = 0o600


class Grant(Struct, omit_defaults=True):
    """What is known of an authorisation; the mappings are the SDK's models as JSON.

    Attributes:
        tokens: access token, refresh token, scope.
        expires_at: seconds since the epoch, None if the server gave no lifetime.
        client: the registration.
        metadata: of the authorisation server: where tokens are refreshed.
        resource: the metadata of the protected resource.
        issuer: the authorisation server that the resource named.
    """

    tokens: dict[str, Any] | None = None
    expires_at: float | None = None
    client: dict[str, Any] | None = None
    metadata: dict[str, Any] | None = None
    resource: dict[str, Any] | None = None
    issuer: str | None = None


class TokenFile:
    """Reads and replaces the file at `path`."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __repr__(self) -> str:
        return f"<TokenFile {self.path}>"

    def read(self) -> Grant:
        """What is stored; an empty grant if there is no file.

        Raises:
            NotAuthorized: other users may read the file, or it is damaged.
        """
        try:
            with self.path.open("rb") as file:
                mode = stat.S_IMODE(os.fstat(file.fileno()).st_mode)
                if os.name == "posix" and mode & 0o077:
                    raise NotAuthorized(
                        f"{self.path} has tokens and can be read by other users (mode {mode:04o}). "
                        "If none of them has seen it, run chmod 600 on it; else remove it and authorise again"
                    )
                return msgspec.json.decode(file.read(), type=Grant)
        except (FileNotFoundError, NotADirectoryError):
            return Grant()
        except msgspec.MsgspecError as error:
            raise NotAuthorized(f"{self.path} is damaged ({error}); remove it and authorise again") from error

    def write(self, grant: Grant) -> None:
        """Replace the file as a whole, so that a reader or a crash never sees half of it."""
        self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        # In the same directory, because a rename does not cross file systems; with its mode from the first byte.
        draft = self.path.with_name(f".{self.path.name}.{secrets.token_hex(8)}")
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, MODE)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(msgspec.json.encode(grant))
            draft.replace(self.path)
        except BaseException:
            draft.unlink(missing_ok=True)
            raise

    def remove(self) -> None:
        """Forget tokens and registration."""
        with suppress(FileNotFoundError, NotADirectoryError):
            self.path.unlink()
