import unittest

LIMIT = 10


class Box:
    def __init__(self):
        self.items = []

    def put(self, name, weight):
        self.check(weight)
        self.items.append((name, weight))

    def check(self, weight):
        if weight > LIMIT * 10:  # CAUSE
            raise ValueError("too heavy")


class BoxTest(unittest.TestCase):
    def test_heavy(self):
        box = Box()
        with self.assertRaises(ValueError):
            box.put("stone", 50)


unittest.main(exit=False, argv=["x"])
