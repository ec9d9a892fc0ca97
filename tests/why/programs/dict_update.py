"""Restore the jobs of a queue from the rows of a table."""

import csv
import io
from operator import attrgetter

TABLE = """\
name,priority,tries,owner
resize,2,0,web
mail,1,3,web
backup,9,1,ops
"""


class Job:
    def __init__(self, name):
        self.name = name
        self.priority = 5
        self.tries = 0
        self.owner = None

    @classmethod
    def restore(cls, row):
        job = cls(row["name"])
        job.__dict__.update(row)  # CAUSE
        return job

    def failed(self):
        self.tries = self.tries + 1
        return self.tries < 4


class Queue:
    def __init__(self):
        self.jobs = []

    def add(self, job):
        self.jobs.append(job)
        self.jobs.sort(key=attrgetter("name"))

    def by_owner(self, owner):
        return [job for job in self.jobs if job.owner == owner]

    def fail_all(self, owner):
        return [job.name for job in self.by_owner(owner) if job.failed()]


queue = Queue()
for row in csv.DictReader(io.StringIO(TABLE)):
    queue.add(Job.restore(row))
print([job.name for job in queue.jobs])
again = queue.fail_all("web")
print("again:", again)
