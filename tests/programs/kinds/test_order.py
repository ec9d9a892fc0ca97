"""A test that fails only sometimes: a set has no order."""


def names(guests):
    return [guest.upper() for guest in set(guests)]


def test_guests_keep_their_order():
    assert names(["ann", "ben"]) == ["ANN", "BEN"]
