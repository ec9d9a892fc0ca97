# ask: plan["mail"]["timeout"]
"""Settings for the relay: service, then its group, then the whole site."""

SITE = {
    "defaults": {"timeout": 30, "retries": 1, "tls": True},
    "groups": {
        "edge": {"defaults": {"timeout": 5, "retries": 4}},
        "batch": {"defaults": {"timeout": 120}},
    },
    "services": {
        "web": {"group": "edge", "timeout": 8},
        "mail": {"group": "batch", "retries": 7},
        "audit": {"group": None},
    },
}
KEYS = ("timeout", "retries", "tls")
_MISSING = object()


# --- tree access -----------------------------------------------------------
def dig(tree, *path):
    node = tree
    for part in path:
        if not isinstance(node, dict) or part not in node:
            return _MISSING
        node = node[part]
    return node


def first_of(candidates):
    for value in candidates:
        if value is not _MISSING:
            return value
    raise LookupError("no value at any level")


# --- resolution ------------------------------------------------------------
class Resolver:
    def __init__(self, tree):
        self.tree = tree
        self.asked = 0

    def levels(self, service):
        base = dig(self.tree, "services", service)
        group = base.get("group")
        shared = dig(self.tree, "groups", group)
        yield base
        if shared is not _MISSING:
            yield dig(self.tree, "defaults")  # CAUSE
        yield dig(self.tree, "defaults")

    def value(self, service, key):
        self.asked += 1
        return first_of(dig(level, key) for level in self.levels(service))

    def full(self, service):
        return {key: self.value(service, key) for key in KEYS}


# --- output ----------------------------------------------------------------
def render(plan):
    rows = []
    for service in sorted(plan):
        pairs = " ".join(f"{k}={v}" for k, v in plan[service].items())
        rows.append(f"[{service}] {pairs}")
    return "\n".join(rows)


resolver = Resolver(SITE)
plan = {service: resolver.full(service) for service in SITE["services"]}
longest = max(len(service) for service in plan)
print(render(plan))
print("lookups:", resolver.asked, "widest:", longest)
