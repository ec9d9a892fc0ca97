"""A small reader for semicolon files with quoted cells."""


class Reader:
    def __init__(self, delimiter=";", quote="'"):
        self.delimiter = delimiter
        self.quote = quote

    def cells(self, line):
        out = []
        buf = []
        quoted = False
        was_quoted = False
        i = 0
        while i < len(line):
            ch = line[i]
            if quoted:
                if ch == self.quote:
                    if line[i + 1:i + 2] == self.quote:
                        buf.append(ch)
                        i += 1
                    else:
                        quoted = False
                else:
                    buf.append(ch)
            elif ch == self.quote:
                quoted = was_quoted = True
            elif ch == self.delimiter:
                out.append(self.finish(buf, was_quoted))
                buf = []  # CAUSE
            else:
                buf.append(ch)
            i += 1
        out.append(self.finish(buf, was_quoted))
        return out

    def finish(self, buf, was_quoted):
        text = "".join(buf)
        if was_quoted:
            return text
        text = text.strip()
        try:
            return int(text)
        except ValueError:
            return text or None

    def table(self, source):
        lines = [ln for ln in source.splitlines() if ln and not ln.startswith("#")]
        header = self.cells(lines[0])
        return [dict(zip(header, self.cells(ln))) for ln in lines[1:]]


SOURCE = """\
# warehouse export
item;place;count;note
hammer;A1;12;
'nail; long';B2;4000;'per ''box'''
saw; C3;7;rusty
"""

records = Reader().table(SOURCE)
names = [r["item"] for r in records]
assert names == ["hammer", "nail; long", "saw"]
assert records[1]["note"] == "per 'box'"
by_place = {r["place"]: r for r in records}
in_stock = [by_place[p]["count"] for p in ("A1", "B2", "C3")]
assert in_stock == [12, 4000, 7], in_stock
