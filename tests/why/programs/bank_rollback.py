"""A bank with grouped postings: either all of a group are booked, or none."""


class Refused(Exception):
    pass


class Bank:
    def __init__(self, limit=0):
        self.limit = limit
        self.accounts = {}
        self.journal = []

    def open(self, number, owner, balance=0):
        self.accounts[number] = {"owner": owner, "balance": balance, "history": []}

    def _post(self, number, amount, text):
        account = self.accounts[number]
        if account["balance"] + amount < -self.limit:
            raise Refused(f"{number}: {text}")
        account["balance"] += amount
        account["history"].append((text, amount))

    def transfer(self, source, target, amount, text):
        self._post(target, amount, text)
        self._post(source, -amount, text)

    def batch(self, orders):
        saved = dict(self.accounts)  # CAUSE
        try:
            for source, target, amount, text in orders:
                self.transfer(source, target, amount, text)
        except Refused as refusal:
            self.accounts = saved
            self.journal.append(("refused", str(refusal)))
            return False
        self.journal.append(("booked", len(orders)))
        return True

    def total(self):
        return sum(a["balance"] for a in self.accounts.values())

    def statement(self, number):
        account = self.accounts[number]
        lines = [f"{text:<10}{amount:>8}" for text, amount in account["history"]]
        lines.append(f"{account['owner']:<10}{account['balance']:>8}")
        return lines


bank = Bank(limit=50)
bank.open(10, "Ines", 400)
bank.open(20, "Jon", 120)
bank.open(30, "Kim")

assert bank.batch([(10, 20, 100, "rent"), (20, 30, 30, "book")])
assert bank.total() == 520
done = bank.batch([(10, 30, 200, "bike"), (20, 30, 500, "car")])
assert done is False
assert bank.journal[-1] == ("refused", "20: car")
assert len(bank.statement(10)) == 2, bank.statement(10)
assert bank.total() == 520
