"""Which names are those of secrets, so that their values are not written: as `masking/secret_names.py`, without `re`.

    is_secret("api_key")            # True
    is_secret("token_count")        # False

Their values are not written.
"""

from itertools import pairwise

_WORDS = frozenset(
    (
        "token secret password passwd passphrase pwd credential credentials apikey accesskey secretkey privatekey "
        "authkey auth authorization authtoken accesstoken secrets bearer"
    ).split()
)

_BEFORE_KEY = frozenset(
    (
        "api access secret private auth account signing encryption master shared storage subscription license service"
    ).split()
)

_HARMLESS = frozenset(
    (
        "id ids file filename path dir directory url uri endpoint type kind name names field header prefix suffix len "
        "length count size limit index pos position time expires expiry expiration at ttl age pattern regex re class "
        "cls format scheme method provider fingerprint"
    ).split()
)

SIGNS = ("token", "secret", "passw", "passphrase", "pwd", "credential", "key", "auth", "bearer")
"""One of these is in each name of a secret."""

_known: dict[str, bool] = {}

_MOST = 20_000


def is_secret(name: str) -> bool:
    """Return whether a name is that of a secret."""
    found = _known.get(name)
    if found is None:
        if len(_known) >= _MOST:
            _known.clear()
        lower = name.lower()
        found = _known[name] = any([sign in lower for sign in SIGNS]) and _is_secret(_parts(name))
    return found


def _is_secret(parts: list[str]) -> bool:
    if not parts or parts[-1] in _HARMLESS:
        return False
    if not _WORDS.isdisjoint(parts):
        return True
    return any([key == "key" and word in _BEFORE_KEY for word, key in pairwise(parts)])


def _parts(name: str) -> list[str]:
    """Return the words of a name, in lower case: of `apiKey` and of `API_KEY` they are `api` and `key`."""
    parts: list[str] = []
    word = ""
    for place, letter in enumerate(name):
        if not (letter.isascii() and letter.isalpha()):
            parts.append(word)
            word = ""
            continue
        after = name[place + 1 : place + 2]
        starts = letter.isupper() and word and (word[-1].islower() or (after.isalpha() and after.islower()))
        if starts:
            parts.append(word)
            word = ""
        word += letter
    return [part.lower() for part in (*parts, word) if part]
