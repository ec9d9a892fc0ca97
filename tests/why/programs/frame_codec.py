import struct

HEADER = struct.Struct(">BH")
KINDS = {1: "text", 2: "ping", 3: "bye"}
CODES = {name: code for code, name in KINDS.items()}


class ProtocolError(Exception):
    pass


def encode(kind, text=""):
    body = text.encode("utf-8")
    return HEADER.pack(CODES[kind], len(text)) + body  # CAUSE


class Decoder:
    def __init__(self):
        self.buffer = b""
        self.frames = []

    def feed(self, chunk):
        self.buffer += chunk
        while len(self.buffer) >= HEADER.size:
            code, size = HEADER.unpack_from(self.buffer)
            end = HEADER.size + size
            if len(self.buffer) < end:
                break
            if code not in KINDS:
                raise ProtocolError(f"unknown frame kind {code}")
            body = self.buffer[HEADER.size:end]
            self.frames.append((KINDS[code], body))
            self.buffer = self.buffer[end:]
        return len(self.frames)


def chunks(data, size):
    for start in range(0, len(data), size):
        yield data[start:start + size]


MESSAGES = [
    ("ping", ""),
    ("text", "hello there"),
    ("text", "un café à Orléans"),
    ("ping", ""),
    ("text", "done"),
    ("bye", ""),
]

wire = b"".join(encode(kind, text) for kind, text in MESSAGES)
decoder = Decoder()
for piece in chunks(wire, 7):
    decoder.feed(piece)
texts = [body.decode("utf-8") for kind, body in decoder.frames if kind == "text"]
print(texts)
assert len(decoder.frames) == len(MESSAGES)
