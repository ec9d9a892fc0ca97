# ask: weeks[0]["tue"]
"""Duty weeks of a fire brigade, made from a template and then amended."""

TEMPLATE = {
    "mon": ["Alma", "Bert"],
    "tue": ["Carla", "Dan"],
    "wed": ["Alma", "Dan"],
    "thu": ["Bert", "Carla"],
    "fri": ["Alma", "Carla"],
    "sat": ["Dan"],
}
CHANGES = """\
1 mon Bert Enzo
1 sat Dan Alma
2 tue Dan Flora
2 fri Carla Bert
3 tue Carla Gina
3 wed Alma Enzo
"""


def parse(text):
    for line in text.splitlines():
        week, day, out, into = line.split()
        yield int(week), day, out, into


def new_week(template):
    week = dict(template)  # CAUSE
    week["sun"] = []
    return week


def swap(week, day, out, into):
    crew = week[day]
    if out not in crew:
        return False
    crew[crew.index(out)] = into
    return True


def build(count, changes):
    weeks = [new_week(TEMPLATE) for _ in range(count)]
    missed = []
    for change in changes:
        number, *rest = change
        if not swap(weeks[number - 1], *rest):
            missed.append(change)
    return weeks, missed


def turns(weeks):
    counts = {}
    for week in weeks:
        for crew in week.values():
            for name in crew:
                counts[name] = counts.get(name, 0) + 1
    return counts


weeks, missed = build(3, parse(CHANGES))
for number, week in enumerate(weeks, 1):
    print(f"week {number}")
    for day, crew in week.items():
        print(f"  {day}: {', '.join(crew) or '-'}")
print("missed changes", len(missed))
for name, count in sorted(turns(weeks).items()):
    print(name, count)
