shelves = []
shelves.append([1])
shelves.append([5])
shelves[0].append(2)
shelves[1].append(7)  # CAUSE
found = next(number for number, row in enumerate(shelves) if 7 in row)
assert found == 0
