import io
import csv
import statistics

RAW = """respondent,age,score
r1,34,7
r2,,9
r3,51,4
r4,29,8
r5,abc,5
r6,42,6
"""


def rows(text):
    return list(csv.DictReader(io.StringIO(text)))


def is_number(text):
    return text.strip().isdigit()


def usable(records):
    return (r for r in records if is_number(r["age"]) and is_number(r["score"]))  # CAUSE


def column(records, name):
    return [int(r[name]) for r in records]


class Survey:
    def __init__(self, text):
        self.everything = rows(text)
        self.valid = usable(self.everything)  # CAUSE

    def dropped(self):
        return len(self.everything) - sum(1 for _ in self.valid)

    def ages(self):
        return column(self.valid, "age")

    def scores(self):
        return column(self.valid, "score")


def describe(values):
    return {
        "n": len(values),
        "mean": statistics.fmean(values),
        "median": statistics.median(values),
        "range": max(values) - min(values),
    }


def report(survey):
    out = {"age": describe(survey.ages())}
    out["score"] = describe(survey.scores())
    out["dropped"] = survey.dropped()
    return out


survey = Survey(RAW)
first = survey.everything[0]["respondent"]
print("first respondent", first)
result = report(survey)
print(result)
assert result["dropped"] == 2
