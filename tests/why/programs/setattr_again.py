"""Themes of a plotting tool; a chart may have its own colours."""


class Theme:
    line = "black"
    fill = "white"
    width = 1

    def customise(self, **changes):
        for name, value in changes.items():
            if not hasattr(self, name):
                raise AttributeError(f"a theme has no {name}")
            setattr(type(self), name, value)  # CAUSE
        return self


class Chart:
    def __init__(self, title, points, theme=None):
        self.title = title
        self.points = points
        self.theme = theme or Theme()

    def bounds(self):
        return min(self.points), max(self.points)

    def svg(self):
        marks = []
        low, high = self.bounds()
        for x, y in enumerate(self.points):
            height = round(100 * (y - low) / (high - low))
            marks.append(f'<circle cx="{x * 10}" cy="{height}" stroke="{self.theme.line}"/>')
        return marks


def gallery(charts):
    return {chart.title: chart.svg() for chart in charts}


sales = Chart("sales", [3, 9, 4, 7])
alarm = Chart("alarms", [1, 0, 5], Theme().customise(line="red", width=3))
pictures = gallery([sales, alarm])
print({title: len(marks) for title, marks in pictures.items()})
assert pictures["sales"][1] == '<circle cx="10" cy="100" stroke="black"/>'
