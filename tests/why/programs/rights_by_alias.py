"""Permissions: groups inherit, a set is updated in place through an alias."""

GROUPS = {
    "reader": {"view"},
    "editor": {"edit"},
    "admin": {"delete"},
}
PARENTS = {"editor": "reader", "admin": "editor"}


def rights(group):
    result = GROUPS[group]                 # CAUSE
    parent = PARENTS.get(group)
    while parent:
        result |= GROUPS[parent]
        parent = PARENTS.get(parent)
    return result


class User:
    def __init__(self, name, group, extra=()):
        self.name = name
        self.group = group
        self.extra = set(extra)

    def allowed(self, action):
        own = rights(self.group)
        own |= self.extra
        return action in own


def audit(users, action):
    return [user.name for user in users if user.allowed(action)]


users = [User("ann", "admin"), User("bob", "reader", ["purge"]), User("cid", "reader")]
who = audit(users, "purge")
print(who)
assert who == ["bob"]
