LIMIT = 10


def check(weight):
    if weight > LIMIT * 10:  # CAUSE
        raise ValueError("too heavy")
    return weight


def test():
    try:
        check(50)
        assert False, "nothing was raised"
    except ValueError:
        pass


test()
