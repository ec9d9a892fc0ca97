from urllib.parse import urlsplit

MESSAGE = """\
Host: shop.example
Accept: text/html
Date: Tue, 05 Mar 2024 10:15:30 GMT
Referer: https://search.example/results?q=lamps
Cookie: theme=dark; token=aGVsbG8=; lang=en

"""


def parse_headers(text):
    headers = {}
    for line in text.splitlines():
        if not line.strip():
            break
        name, value = line.split(": ")
        headers[name.lower()] = value
    return headers


def parse_cookies(header):
    jar = {}
    for part in header.split(";"):
        pieces = part.strip().split("=")  # CAUSE
        jar[pieces[0]] = pieces[1]  # CAUSE
    return jar


class Request:
    def __init__(self, text):
        self.headers = parse_headers(text)
        self.cookies = parse_cookies(self.headers.get("cookie", ""))

    @property
    def came_from(self):
        return urlsplit(self.headers["referer"]).hostname

    def language(self, default="en"):
        return self.cookies.get("lang", default)


class Sessions:
    def __init__(self):
        self._known = {}

    def open(self, token, user):
        self._known[token] = user

    def user_for(self, request):
        token = request.cookies.get("token")
        return self._known[token]


sessions = Sessions()
sessions.open("aGVsbG8=", "maria")
sessions.open("d29ybGQ=", "tomas")
request = Request(MESSAGE)
print(request.came_from, request.language(), request.headers["date"])
user = sessions.user_for(request)
print("welcome", user)
assert user == "maria"
