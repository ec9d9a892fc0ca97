from contextlib import contextmanager


class InsufficientFunds(Exception):
    pass


class Bank:
    def __init__(self, balances):
        self.balances = dict(balances)
        self.journal = []
        self.attempts = 0
        self.failed = 0

    @contextmanager
    def transaction(self, label):
        saved = dict(self.balances)
        try:
            yield self
            self.journal.append(label)
        except LookupError:  # CAUSE
            self.balances = saved
            raise
        finally:
            self.attempts += 1

    def credit(self, name, amount):
        self.balances[name] += amount

    def debit(self, name, amount):
        if self.balances[name] < amount:
            raise InsufficientFunds(name)
        self.balances[name] -= amount


def move(bank, source, target, amount):
    with bank.transaction(f"{source}->{target}:{amount}"):
        bank.credit(target, amount)
        bank.debit(source, amount)


def run_batch(bank, orders):
    for source, target, amount in orders:
        try:
            move(bank, source, target, amount)
        except (InsufficientFunds, KeyError) as exc:
            bank.failed += 1
            print("rejected:", type(exc).__name__, exc)


OPENING = {"ada": 100, "ben": 40, "cleo": 0}
ORDERS = [
    ("ada", "ben", 30),
    ("ben", "cleo", 60),
    ("ben", "nobody", 5),
    ("cleo", "ada", 75),
    ("ada", "cleo", 10),
]

bank = Bank(OPENING)
run_batch(bank, ORDERS)
print(bank.journal)
print(bank.balances)
assert bank.failed == 2
assert sum(bank.balances.values()) == sum(OPENING.values()), bank.balances
