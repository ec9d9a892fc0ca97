r"""Text that arrives in pieces, with a label in the place of each secret.

    masker = StreamMasker()
    masker.feed(["ghp_abcdefghijklmnopqrst", "uvwxyzABCDEFGHIJ\n"])     # ["<GitHub token, 40 characters>", "\n"]

A secret may be in several pieces. It is masked in all those that are fed together; if its beginning was fed before,
and hence read by a client, the rest is masked. A beginning that shows what it will be is masked as well.
"""

from trio_debugmcp.masking.mask import CUT, Finding, findings, masked

MAX_CONTEXT = 4096
"""Characters of an unfinished line that are kept to recognize what follows: longer than any key but a private one."""

MAX_BEGINNING = 200
"""Characters of a key that has not ended yet: longer ones are in their own form by then."""

MAX_OPEN = 16 * 1024
"""Characters of a private key that has not ended yet."""


class StreamMasker:
    """Masks the pieces of one stream, and remembers what the next one may continue."""

    def __init__(self) -> None:
        self._before = ""

    def __repr__(self) -> str:
        return f"<StreamMasker after {len(self._before)} characters>"

    def feed(self, pieces: list[str]) -> list[str]:
        """Return the pieces without the secrets in them; the mask is where a secret begins."""
        text = self._before + "".join(pieces)
        secrets = _findings(text)
        if not secrets:
            self._before = self._context(text, len(text))
            return pieces
        starts, at = [], len(self._before)
        for piece in pieces:
            starts.append(at)
            at += len(piece)
        clean = []
        for start, piece in zip(starts, pieces, strict=True):
            end, left, without = start + len(piece), start, ""
            for secret in secrets:
                if secret.end <= start or secret.start >= end:
                    continue
                without += text[left : max(left, secret.start)]
                if secret.start >= start or start == len(self._before):
                    without += secret.mask
                left = min(secret.end, end)
            clean.append(masked(without + text[left:end]))
        lasts = not text[secrets[-1].end :].strip()
        self._before = self._context(text, secrets[-1].start if lasts else len(text))
        return clean

    def _context(self, text: str, open_at: int) -> str:
        """Return what the next pieces may continue: an unfinished line, or a secret that lasts to the end."""
        line = max(text.rfind("\n") + 1, len(text) - MAX_CONTEXT)
        return text[max(min(line, open_at), len(text) - MAX_OPEN) :]


def _findings(text: str) -> list[Finding]:
    """Return the secrets in a text, and one that has only begun at its end: it may be read before the rest arrives."""
    secrets = findings(text)
    at = max(0, len(text) - MAX_BEGINNING)
    begun = [finding for finding in findings(text[at:] + CUT) if finding.end == len(text) - at]
    if begun and not (secrets and secrets[-1].end == len(text)):
        secrets.append(Finding(at + begun[0].start, len(text), begun[0].label))
    return secrets
