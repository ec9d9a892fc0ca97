# ask: total
import sqlite3
from contextlib import contextmanager


@contextmanager
def writing(db):
    yield db.cursor()
    db.commit()


def parsed(text):
    euros, _, cents = text.partition(".")
    return int(euros) * 100 + int(cents or 0)  # CAUSE


def account(db, name):
    with writing(db) as cursor:
        cursor.execute("insert into accounts (name) values (?)", (name,))
    return db.execute("select id from accounts where name = ?", (name,)).fetchone()[0]


def add(db, owner, text):
    cents = parsed(text)
    with writing(db) as cursor:
        cursor.execute("insert into entries (owner, cents) values (?, ?)", (owner, cents))


def balance(db, owner):
    return db.execute("select coalesce(sum(cents), 0) from entries where owner = ?", (owner,)).fetchone()[0]


def connected():
    db = sqlite3.connect(":memory:")
    db.executescript(
        "create table accounts (id integer primary key, name text);"
        "create table entries (owner integer, cents integer);"
    )
    return db


db = connected()
ada, bob = account(db, "ada"), account(db, "bob")
for owner, text in ((bob, "3.25"), (ada, "12.10"), (ada, "0.5")):
    add(db, owner, text)
total = balance(db, ada)
