"""Requests of a small client: defaults with what a call adds."""

from urllib.parse import urlencode

DEFAULTS = {"timeout": 10, "headers": {"accept": "application/json"}, "query": {}}


def combined(base, extra):
    for key, value in extra.items():
        if isinstance(value, dict):
            base[key] = combined(base.get(key, {}), value)  # CAUSE
        else:
            base[key] = value
    return base


def fresh(**extra):
    return combined(dict(DEFAULTS), extra)  # CAUSE


class Client:
    def __init__(self, host):
        self.host = host
        self.sent = []

    def url(self, path, query):
        tail = f"?{urlencode(query)}" if query else ""
        return f"https://{self.host}/{path.lstrip('/')}{tail}"

    def get(self, path, **options):
        options = fresh(**options)
        url = self.url(path, options["query"])
        self.sent.append((url, options["timeout"]))
        return url


def crawl(client):
    client.get("/users", query={"page": 2}, timeout=30)
    client.get("/users/7")
    return [url for url, _ in client.sent]


client = Client("api.example.org")
urls = crawl(client)
print(client.sent[0])
assert urls[1] == "https://api.example.org/users/7"
