import string

FREE = "."
TAKEN = "#"


def build_hall(rows, seats):
    line = [FREE] * seats
    hall = []
    for _ in range(rows):
        hall.append(line)  # CAUSE
    return hall


def parse_seat(text):
    row = string.ascii_uppercase.index(text[0])
    return row, int(text[1:]) - 1


def book(hall, text):
    row, col = parse_seat(text)
    if hall[row][col] == TAKEN:
        raise ValueError(f"seat {text} is not available")
    hall[row][col] = TAKEN
    return (row, col)


def free_count(hall):
    return sum(row.count(FREE) for row in hall)


def render(hall):
    out = []
    for letter, row in zip(string.ascii_uppercase, hall):
        out.append(letter + " " + "".join(row))
    return "\n".join(out)


def price(row, base=18):
    return base + max(0, 6 - 2 * row)


def main():
    hall = build_hall(4, 8)
    orders = [("Ines", ["A1", "A2"]), ("Marek", ["C5"]), ("Jo", ["B2", "B3"])]
    bill = {}
    for customer, seats in orders:
        total = 0
        for seat in seats:
            row, _ = book(hall, seat)
            total += price(row)
        bill[customer] = total
    print(render(hall))
    print(bill, free_count(hall))


if __name__ == "__main__":
    main()
