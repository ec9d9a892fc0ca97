"""Matches the payments at a bank with a club's open invoices."""

INVOICES = """\
2201 Aune 120
2202 Boel 480
2203 Cato 75
2204 Dag 310
2205 Eir 256
2206 Finn 1200
2207 Gro 45
2208 Hild 310
"""
PAYMENTS = """\
05-02 75 ref 2203
05-02 120 ref 2201
05-03 310 ref 2204
05-06 45 ref 2207
05-07 480 ref 2202
05-08 200 ref 2205
05-09 1200 ref 2206
"""


class Invoice:
    def __init__(self, number, member, amount):
        self.number = int(number)
        self.member = member
        self.amount = int(amount)
        self.paid_on = None


class Payment:
    def __init__(self, day, amount, _, number):
        self.day = day
        self.amount = int(amount)
        self.number = int(number)


def parse(kind, text):
    return [kind(*line.split()) for line in text.splitlines()]


def fits(payment, invoice):
    if invoice.paid_on:
        return False
    same_number = payment.number == invoice.number
    return same_number and payment.amount is invoice.amount  # CAUSE


def settle(invoices, payments):
    unmatched = []
    for payment in payments:
        for invoice in invoices:
            if fits(payment, invoice):
                invoice.paid_on = payment.day
                break
        else:
            unmatched.append(payment)
    return unmatched


def reminders(invoices):
    return [f"{i.member} owes {i.amount}" for i in invoices if not i.paid_on]


invoices = parse(Invoice, INVOICES)
payments = parse(Payment, PAYMENTS)
unmatched = settle(invoices, payments)
for line in reminders(invoices):
    print(line)
strange = [(p.day, p.amount) for p in unmatched]
print("unmatched", len(strange))
assert strange == [("05-08", 200)], strange
