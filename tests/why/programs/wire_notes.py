"""A tiny framing protocol for short notes between stations."""
import json
import struct
import zlib

HEADER = struct.Struct(">HBI")


# --- framing ---------------------------------------------------------------
class Writer:
    def __init__(self):
        self.buffer = bytearray()
        self.count = 0

    def note(self, channel, text):
        body = text.encode("utf-8")
        check = zlib.crc32(body)
        self.buffer += HEADER.pack(len(text), channel, check)  # CAUSE
        self.buffer += body
        self.count += 1


class Reader:
    def __init__(self, data):
        self.data = bytes(data)
        self.pos = 0

    def take(self, size):
        chunk = self.data[self.pos:self.pos + size]
        if len(chunk) < size:
            raise EOFError("short frame")
        self.pos += size
        return chunk

    def __iter__(self):
        while self.pos < len(self.data):
            size, channel, check = HEADER.unpack(self.take(HEADER.size))
            body = self.take(size)
            yield channel, body, check


# --- checks ----------------------------------------------------------------
def verify(body, check):
    if zlib.crc32(body) != check:
        raise ValueError(f"damaged frame {body[:12]!r}")
    return body.decode("utf-8")


def collect(data):
    box = {}
    for channel, body, check in Reader(data):
        box.setdefault(channel, []).append(verify(body, check))
    return box


# --- stations --------------------------------------------------------------
NOTES = [
    (1, "all quiet"),
    (2, "train 7 late"),
    (1, "Zoë relieves Tom at six"),
    (3, "lamp out on mast 4"),
]


def send(notes):
    writer = Writer()
    for channel, text in notes:
        writer.note(channel, text)
    return writer


writer = send(NOTES)
print(writer.count, "notes,", len(writer.buffer) > 80)
box = collect(writer.buffer)
print(json.dumps(box, sort_keys=True))
assert sum(map(len, box.values())) == writer.count
