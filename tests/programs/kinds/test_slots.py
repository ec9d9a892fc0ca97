"""A failing test."""


def free(slots, taken):
    for number in taken:
        slots.remove(slots[number])
    return slots


def test_taken_slots_are_not_free():
    assert free([9, 10, 11, 12], [0, 1]) == [11, 12]
