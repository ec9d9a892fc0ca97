"""The highest average of three days in a row: the last days do not count."""


def averages(values, size):
    found = []
    for start in range(len(values) - size):
        found.append(sum(values[start : start + size]) / size)
    return found


def warmest(stations, size=3):
    best = None
    for name, values in stations.items():
        for average in averages(values, size):
            if best is None or average > best[1]:
                best = name, average
    return best


stations = {"north": [11, 12, 13, 12, 10], "harbour": [14, 13, 15, 21, 24], "hill": [9, 16, 17, 15, 16]}
print("warmest:", *warmest(stations))
