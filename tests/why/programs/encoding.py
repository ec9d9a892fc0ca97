"""Messages on a stream, each with its length before it."""

import io
import json
from itertools import count

numbers = count(1)


def message(kind, **fields):
    return {"id": next(numbers), "kind": kind, **fields}


class Writer:
    def __init__(self, stream):
        self.stream = stream

    def send(self, content):
        text = json.dumps(content, ensure_ascii=False)
        head = f"{len(text)}\n"  # CAUSE
        self.stream.write(head.encode("ascii"))
        self.stream.write(text.encode("utf-8"))


class Reader:
    def __init__(self, stream):
        self.stream = stream

    def __iter__(self):
        while head := self.stream.readline():
            size = int(head)
            body = self.stream.read(size)
            yield json.loads(body)


def exchange(contents):
    stream = io.BytesIO()
    writer = Writer(stream)
    for content in contents:
        writer.send(content)
    stream.seek(0)
    return list(Reader(stream))


received = exchange(
    [
        message("hello", user="ada"),
        message("post", text="Grüße aus Malmö"),
        message("bye"),
    ]
)
print([content["kind"] for content in received])
