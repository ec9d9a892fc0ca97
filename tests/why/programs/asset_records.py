"""Records of a workshop's assets, built from small mix-ins."""
import itertools

_serial = itertools.count(100)


# --- base and mix-ins ------------------------------------------------------
class Record:
    def __init__(self, name):
        self.name = name
        self.serial = next(_serial)

    def __repr__(self):
        return f"<{type(self).__name__} {self.serial} {self.name}>"


class Located(Record):
    def __init__(self, name, room="store", **more):
        Record.__init__(self, name)  # CAUSE
        self.room = room

    def move(self, room):
        old, self.room = self.room, room
        return old


class Serviced(Record):
    def __init__(self, name, every=90, **more):
        super().__init__(name, **more)
        self.every = every
        self.visits = []

    def service(self, day):
        self.visits.append(day)

    def overdue(self, today):
        last = self.visits[-1] if self.visits else 0
        return today - last > self.every


class Machine(Located, Serviced):
    def label(self):
        return f"{self.name}@{self.room}"


class Bench(Located):
    pass


# --- register --------------------------------------------------------------
class Register:
    def __init__(self):
        self.items = []

    def add(self, item):
        self.items.append(item)
        return item

    def of(self, kind):
        return [item for item in self.items if isinstance(item, kind)]

    def due_list(self, today):
        return [item.name for item in self.of(Serviced) if item.overdue(today)]


register = Register()
lathe = register.add(Machine("lathe", room="hall", every=30))
bench = register.add(Bench("bench", room="hall"))
pump = register.add(Serviced("pump", every=60))
lathe.move("annex")
pump.service(20)
print(register.items, lathe.label())
assert len(register.of(Located)) == 2
today = 50
names = register.due_list(today)
print("due:", names)
assert names == ["lathe"]
