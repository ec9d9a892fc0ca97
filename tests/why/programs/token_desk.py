"""Short-lived tokens, with a self check that runs before opening."""
import time
from contextlib import contextmanager


# --- clock tools -----------------------------------------------------------
@contextmanager
def clock_at(seconds):
    real = time.time
    time.time = lambda: seconds
    yield seconds  # CAUSE
    time.time = real  # CAUSE


def whole_days(seconds):
    return int(seconds // 86400)


# --- tokens ----------------------------------------------------------------
class Expired(Exception):
    pass


class Tokens:
    def __init__(self, life):
        self.life = life
        self.issued = {}

    def issue(self, owner):
        token = f"{owner}-{len(self.issued) + 1}"
        self.issued[token] = time.time()
        return token

    def check(self, token):
        age = time.time() - self.issued[token]
        if age > self.life:
            raise Expired(token)
        return age


# --- self check ------------------------------------------------------------
def accepts_fresh(life):
    desk = Tokens(life)
    with clock_at(1000.0):
        return desk.check(desk.issue("probe")) == 0.0


def rejects_old(life):
    desk = Tokens(life)
    token = desk.issue("probe")
    try:
        with clock_at(desk.issued[token] + life + 1):
            desk.check(token)
    except Expired:
        return True
    return False


def self_check(life=4_000_000_000):
    return [probe.__name__ for probe in (rejects_old, accepts_fresh) if not probe(life)]


# --- opening ---------------------------------------------------------------
def open_desk(owners):
    desk = Tokens(life=300)
    return desk, [desk.issue(owner) for owner in owners]


failed = self_check()
assert failed == []
desk, tokens = open_desk(["ann", "ben"])
print("tokens:", tokens)
days = {whole_days(stamp) for stamp in desk.issued.values()}
assert max(days) < 50_000, "issue date is in the far future"
