"""A print server: jobs wait in a heap, operators may push one forward."""
import heapq
from itertools import count


class Job:
    def __init__(self, name, pages, urgency, ticket):
        self.name = name
        self.pages = pages
        self.urgency = urgency
        self.ticket = ticket

    def __lt__(self, other):
        return (self.urgency, self.ticket) < (other.urgency, other.ticket)

    def __repr__(self):
        return f"<{self.name} u={self.urgency}>"


class PrintServer:
    def __init__(self, pages_per_minute=20):
        self.rate = pages_per_minute
        self.tickets = count(1)
        self.waiting = []
        self.index = {}
        self.minutes = 0.0

    def submit(self, name, pages, urgency=5):
        job = Job(name, pages, urgency, next(self.tickets))
        self.index[name] = job
        heapq.heappush(self.waiting, job)
        return job

    def cancel(self, name):
        job = self.index.pop(name)
        self.waiting.remove(job)
        heapq.heapify(self.waiting)

    def expedite(self, name, urgency):
        job = self.index[name]
        job.urgency = min(job.urgency, urgency)  # CAUSE

    def run(self):
        finished = []
        while self.waiting:
            job = heapq.heappop(self.waiting)
            del self.index[job.name]
            self.minutes += job.pages / self.rate
            finished.append(job.name)
        return finished


server = PrintServer()
server.submit("agenda", 4, 3)
server.submit("thesis", 180, 8)
server.submit("poster", 1, 4)
server.submit("manual", 60, 9)
server.submit("letter", 2, 8)
server.submit("flyer", 10, 6)
server.submit("minutes", 6, 7)
server.cancel("flyer")
server.expedite("manual", 1)
order = server.run()
assert server.minutes == 253 / 20, server.minutes
assert not server.index
assert order == ["manual", "agenda", "poster", "minutes", "thesis", "letter"], order
