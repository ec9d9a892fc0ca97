"""Settings are read from lines of text: the port stays what it was, and nothing says why."""

DEFAULTS = {"host": "localhost", "port": 80, "retries": 3}


def convert(name, text):
    kind = type(DEFAULTS[name])
    return kind(text)


def load(lines):
    settings = dict(DEFAULTS)
    for line in lines:
        name, _, text = line.partition("=")
        try:
            settings[name.strip()] = convert(name.strip(), text)
        except Exception:
            continue
    return settings


print(load(["host = example.org", "port = 80 80", "retries = 5"]))
