class Exporter:
    registry = {}

    def __init_subclass__(cls, suffix="txt", **kwargs):
        super().__init_subclass__(**kwargs)
        Exporter.registry[suffix] = cls

    def export(self, rows):
        return "\n".join(rows)


class Csv(Exporter, suffix="csv"):
    def export(self, rows):
        return ";".join(rows)


class Plain(Exporter):
    pass


class LoudCsv(Csv):  # CAUSE
    def export(self, rows):
        return super().export(rows).upper()


def save(name, rows):
    suffix = name.rpartition(".")[2]
    return Exporter.registry[suffix]().export(rows)


assert save("a.csv", ["x", "y"]) == "x;y"
text = save("a.txt", ["x", "y"])
assert text == "x\ny", text
