"""Tickets on a board."""

from dataclasses import dataclass, field
from itertools import count

numbers = count(100)


@dataclass
class Ticket:
    title: str
    owner: str = "nobody"
    number: int = next(numbers)  # CAUSE
    notes: list = field(default_factory=list)

    def note(self, text):
        self.notes.append(text)


class Board:
    def __init__(self):
        self.tickets = {}
        self.closed = set()

    def add(self, ticket):
        self.tickets[ticket.number] = ticket
        return ticket.number

    def close(self, number, why):
        self.tickets[number].note(why)
        self.closed.add(number)

    def open_titles(self):
        return [ticket.title for number, ticket in self.tickets.items() if number not in self.closed]


board = Board()
first = board.add(Ticket("printer on fire", owner="ines"))
second = board.add(Ticket("coffee is cold"))
third = board.add(Ticket("door squeaks", owner="omar"))
board.close(second, "made new coffee")
print("numbers:", first, second, third)
assert board.open_titles() == ["printer on fire", "door squeaks"]
