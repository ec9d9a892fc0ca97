from enum import Enum


class State(Enum):
    NEW = 1
    PAID = 2
    SENT = 3
    LOST = 3  # CAUSE


def advance(state, event):
    if event == "pay" and state is State.NEW:
        return State.PAID
    if event == "send" and state is State.PAID:
        return State.SENT
    if event == "lose" and state is State.SENT:
        return State.LOST
    return state


def refund(orders):
    total = 0
    for price, events in orders:
        state = State.NEW
        for event in events:
            state = advance(state, event)
        if state is State.LOST:
            total += price
    return total


orders = [(10, ["pay", "send"]), (25, ["pay", "send", "lose"]), (7, ["pay"])]
total = refund(orders)
assert total == 25, total
