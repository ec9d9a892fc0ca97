"""The sizes of folders: empty ones count, and should not."""

TREE = {"home": ["ann", "ben"], "ann": ["photos", "mail"], "ben": [], "photos": [], "mail": []}
FILES = {"photos": 700, "mail": 20, "ben": 0}


def size(folder):
    inside = TREE[folder]
    if not inside:
        return FILES[folder] or 1
    return sum([size(each) for each in inside])


total = size("home")
print("home:", total, "expected", sum(FILES.values()))
