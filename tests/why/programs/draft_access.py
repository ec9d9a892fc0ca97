"""Who may edit which draft in a small newsroom."""
from collections import namedtuple

User = namedtuple("User", "name role desk")
Draft = namedtuple("Draft", "title author desk frozen")

STAFF = [
    User("ines", "chief", "city"),
    User("jon", "writer", "city"),
    User("kai", "writer", "sport"),
    User("lou", "guest", "sport"),
]
DRAFTS = [
    Draft("Bridge opens", "jon", "city", False),
    Draft("Cup final", "kai", "sport", True),
    Draft("Budget", "ines", "city", True),
    Draft("Transfers", "lou", "sport", False),
]


def same_desk(user, draft):
    return user.desk == draft.desk and user.role != "guest"


def may_edit(user, draft):
    return user.name == draft.author or same_desk(user, draft) and not draft.frozen  # CAUSE


def may_read(user, draft):
    return user.role != "guest" or user.name == draft.author


def matrix(check):
    table = {}
    for draft in DRAFTS:
        table[draft.title] = [user.name for user in STAFF if check(user, draft)]
    return table


def show(table):
    for title, names in table.items():
        print(f"{title:<14}", ", ".join(names) or "-")


readers = matrix(may_read)
editors = matrix(may_edit)
show(editors)
assert len(readers["Transfers"]) == 4
assert editors["Bridge opens"] == ["ines", "jon"]
locked = [d.title for d in DRAFTS if d.frozen]
open_locked = {title: editors[title] for title in locked if editors[title]}
assert not open_locked, open_locked
