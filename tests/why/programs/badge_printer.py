from dataclasses import dataclass, field


@dataclass
class Label:
    text: str
    width: int = 40
    upper: bool = True  # CAUSE
    tags: list = field(default_factory=list)

    def lines(self):
        text = self.text.upper() if self.upper else self.text
        return [text[i : i + self.width] for i in range(0, len(text), self.width)]


@dataclass
class NameLabel(Label):
    title: str = ""

    def lines(self):
        rows = super().lines()
        if self.title:
            rows.insert(0, self.title)
        return rows


@dataclass
class BadgeLabel(NameLabel):
    width: int = 12

    def render(self):
        return "\n".join(row.center(self.width) for row in self.lines()).rstrip()


def badges(guests):
    return {guest["name"]: BadgeLabel(guest["name"], title=guest.get("title", "")) for guest in guests}


guests = [{"name": "Ada Byron", "title": "Dr."}, {"name": "Bob Ray"}]
printed = {name: badge.render().split("\n")[-1].strip() for name, badge in badges(guests).items()}
assert printed["Bob Ray"] == "Bob Ray"
