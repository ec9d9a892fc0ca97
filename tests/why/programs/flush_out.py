def flush(push, items):
    for item in items:
        push(item * 2)  # CAUSE


def collect(items):
    out = []
    flush(out.append, items)
    return out


values = collect([1, 2])
assert values == [1, 2], values
