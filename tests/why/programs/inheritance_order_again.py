"""Views of a web application; some need a login."""


class View:
    title = "page"

    def allowed(self, user):
        return True

    def render(self, user):
        return f"{self.title} for {user}"

    def __call__(self, user=None):
        if not self.allowed(user):
            return 403, "forbidden"
        return 200, self.render(user)


class LoginRequired:
    def allowed(self, user):
        return user is not None


class Paged(View):
    size = 20

    def render(self, user):
        return f"{super().render(user)}, {self.size} a page"


class News(Paged):
    title = "news"


class Invoices(Paged, LoginRequired):  # CAUSE
    title = "invoices"
    size = 50


class Application:
    def __init__(self):
        self.routes = {}
        self.hits = 0

    def route(self, path, view):
        self.routes[path] = view()

    def get(self, path, user=None):
        self.hits += 1
        if path not in self.routes:
            return 404, "not found"
        return self.routes[path](user)


application = Application()
application.route("/news", News)
application.route("/invoices", Invoices)
answers = [application.get("/news"), application.get("/invoices", "ada"), application.get("/nothing")]
print(answers)
status, body = application.get("/invoices")
assert status == 403
