"""Scores in percent of the best one: nobody has any."""


def parsed(rows):
    return (int(row.split(":")[1]) for row in rows)


def percent(scores):
    best = max(scores)
    shares = [100 * score // best for score in scores]
    return shares


result = percent(parsed(["ann:12", "ben:30", "eve:24"]))
print("percent:", result)
