# ask: valid
"""Check the form of a registration, one rule for each field."""

import re

RULES = {
    "name": lambda text: 0 < len(text) < 40,
    "mail": lambda text: re.fullmatch(r"[^@\s]+@[^@\s]+\.\w+", text) is not None,
    "zip": lambda text: text.isdigit() and len(text) == 5,
}


class Form:
    def __init__(self, **fields):
        self.fields = {name: text.strip() for name, text in fields.items()}
        self.messages = []

    def complain(self, name):
        self.messages.append(f"{name}: not like this: {self.fields[name]!r}")

    def check(self, rules):
        for name, rule in rules.items():
            text = self.fields.get(name, "")
            if not rule(text):
                self.complain(name)
                return False
            return True  # CAUSE


def register(forms, rules):
    accepted = []
    for form in forms:
        if form.check(rules):
            accepted.append(form.fields["name"].upper())
    return accepted


forms = [
    Form(name="Ada", mail="ada@example.org", zip="10115"),
    Form(name="Brook", mail="brook at example", zip="20095"),
    Form(name="", mail="nobody@example.org", zip="1"),
]
accepted = register(forms, RULES)
print(sum(len(form.messages) for form in forms), "messages")
valid = len(accepted)
print("done")
