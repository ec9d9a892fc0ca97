"""A small trick-taking card game, with its tests."""

SUITS = "CDHS"
RANKS = "789TJQKA"


def deck():
    return [rank + suit for suit in SUITS for rank in RANKS]


def shuffle(cards, seed):
    """A plain deterministic shuffle."""
    cards = list(cards)
    for place in range(len(cards) - 1, 0, -1):
        seed = (seed * 1103515245 + 12345) % 2**31
        other = (seed >> 8) % (place + 1)
        cards[place], cards[other] = cards[other], cards[place]
    return cards


class Player:
    hand = []  # CAUSE

    def __init__(self, name):
        self.name = name
        self.tricks = 0

    def take(self, card):
        self.hand.append(card)

    def follow(self, suit):
        fitting = [card for card in self.hand if card[1] == suit]
        choice = max(fitting or self.hand, key=lambda c: RANKS.index(c[0]))
        self.hand.remove(choice)
        return choice


class Table:
    def __init__(self, names, seed=7):
        self.players = [Player(name) for name in names]
        self.cards = shuffle(deck(), seed)

    def deal(self, count):
        for _ in range(count):
            for player in self.players:
                player.take(self.cards.pop())

    def trick(self, suit):
        played = [(player.follow(suit), player) for player in self.players]
        best = max(played, key=lambda p: (p[0][1] == suit, RANKS.index(p[0][0])))
        best[1].tricks += 1
        return best[1].name


# --- tests -----------------------------------------------------------------
def test_deck():
    assert len(set(deck())) == 32
    assert sorted(shuffle(deck(), 3)) == sorted(deck())


def test_lone_player():
    table = Table(["Una"])
    table.deal(5)
    assert table.trick("H") == "Una"


def test_deal():
    table = Table(["Ava", "Ben", "Cy"])
    table.deal(6)
    sizes = {player.name: len(player.hand) for player in table.players}
    print(sizes, "left", len(table.cards))
    assert len(table.cards) == 14
    assert sizes == {"Ava": 6, "Ben": 6, "Cy": 6}


if __name__ == "__main__":
    test_deck()
    test_lone_player()
    test_deal()
