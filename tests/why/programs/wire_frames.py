"""Chat messages on the wire: kind byte, two length bytes, payload, checksum byte."""
import struct

HEADER = struct.Struct(">BH")
KINDS = {1: "join", 2: "say", 3: "leave"}
CODES = {name: code for code, name in KINDS.items()}


class ProtocolError(Exception):
    pass


def checksum(data):
    value = 0
    for byte in data:
        value = (value * 31 + byte) & 0xFF
    return value


def encode(kind, text=""):
    payload = text.encode("utf-8")
    head = HEADER.pack(CODES[kind], len(text))  # CAUSE
    return head + payload + bytes([checksum(payload)])


class Decoder:
    def __init__(self):
        self.buffer = bytearray()
        self.seen = 0

    def feed(self, chunk):
        self.buffer += chunk
        messages = []
        while True:
            message = self._next()
            if message is None:
                return messages
            self.seen += 1
            messages.append(message)

    def _next(self):
        if len(self.buffer) < HEADER.size:
            return None
        code, length = HEADER.unpack_from(self.buffer)
        end = HEADER.size + length
        if len(self.buffer) < end + 1:
            return None
        payload = bytes(self.buffer[HEADER.size:end])
        mark = self.buffer[end]
        del self.buffer[:end + 1]
        if code not in KINDS:
            raise ProtocolError(f"unknown kind {code}")
        if checksum(payload) != mark:
            raise ProtocolError(f"bad checksum after {self.seen} messages")
        return KINDS[code], payload.decode("utf-8")


def chunks(data, size):
    for start in range(0, len(data), size):
        yield data[start:start + size]


talk = [("join", "mia"), ("say", "hello all"), ("join", "noah"), ("say", "see you at the café"),
        ("say", "fine"), ("leave", "mia")]
stream = b"".join(encode(kind, text) for kind, text in talk)
decoder = Decoder()
received = []
for chunk in chunks(stream, 7):
    received.extend(decoder.feed(chunk))
assert received == talk, received
