"""A program that grows: a page that was closed is still there."""


class Bus:
    def __init__(self):
        self.listeners = []


class Page:
    def __init__(self, bus, number):
        self.number = number
        bus.listeners.append(self.refresh)

    def refresh(self):
        return self.number


def visit(bus, number):
    Page(bus, number).refresh()


bus = Bus()
for number in range(40):
    visit(bus, number)
print("closed")
