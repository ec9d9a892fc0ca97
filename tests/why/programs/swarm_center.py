import struct

HEADER = struct.Struct("<HBBI")


def pack(kind, points):
    body = b"".join(struct.pack("<hhH", x, y, weight) for x, y, weight in points)
    return HEADER.pack(0xBEEF, 1, kind, len(points)) + body


def unpack(data):
    magic, version, kind, count = HEADER.unpack_from(data)
    if magic != 0xBEEF:
        raise ValueError("not ours")
    points = []
    offset = HEADER.size
    for _ in range(count):
        points.append(struct.unpack_from(">hhH", data, offset))  # CAUSE
        offset += 6
    return kind, points


def center(points):
    total = sum(weight for _, _, weight in points)
    x = sum(x * weight for x, _, weight in points) / total
    y = sum(y * weight for _, y, weight in points) / total
    return round(x, 1), round(y, 1)


def main():
    sent = [(10, 20, 1), (30, 40, 3), (-5, 0, 2)]
    kind, received = unpack(pack(2, sent))
    middle = center(received)
    assert middle == center(sent)


main()
