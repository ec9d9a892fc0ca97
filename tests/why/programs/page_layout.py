"""Lays out paragraphs with options given as a short text."""
import textwrap


# --- options ---------------------------------------------------------------
class Options:
    def __init__(self):
        self.line_width = 40
        self.indent = 0
        self.bullet = "-"
        self.join_lines = False

    def load(self, pairs):
        known = {name.strip(): value for name, value in pairs}  # CAUSE
        vars(self).update(known)
        return self


def parse_value(text):
    text = text.strip()
    if text in ("yes", "no"):
        return text == "yes"
    return int(text) if text.isdigit() else text


def parse_options(text):
    for part in text.split(","):
        name, _, value = part.partition("=")
        yield name, parse_value(value)


# --- layout ----------------------------------------------------------------
class Page:
    def __init__(self, options):
        self.options = options
        self.out = []

    def paragraph(self, text):
        margin = " " * self.options.indent
        self.out += textwrap.wrap(text, self.options.line_width,
                                  initial_indent=margin, subsequent_indent=margin)

    def points(self, items):
        for item in items:
            self.out.append(f"{self.options.bullet} {item}")

    def text(self):
        glue = " " if self.options.join_lines else "\n"
        return glue.join(self.out)


# --- measures --------------------------------------------------------------
def widest(text):
    return max(len(line) for line in text.splitlines())


def count_words(text):
    return sum(word.strip("*-").isalpha() for word in text.split())


STYLE = "line-width=24, indent=2, bullet=*"
NOTE = ("The ferry leaves from the north pier at noon and returns "
        "before dark unless the harbour master says otherwise")

options = Options().load(parse_options(STYLE))
page = Page(options)
page.paragraph(NOTE)
page.points(["tickets", "coats"])
result = page.text()
print(result)
assert result.startswith("  The") and "* coats" in result
assert count_words(result) == 21, count_words(result)
assert widest(result) <= 24, widest(result)
