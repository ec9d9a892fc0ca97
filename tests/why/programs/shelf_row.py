shelves = []
shelves.append(["cup"])
shelves.append(["pot"])
shelves[0].append("jug")
shelves[1].append("pan")  # CAUSE
found = next(number for number, row in enumerate(shelves) if "pan" in row)
assert found == 0
