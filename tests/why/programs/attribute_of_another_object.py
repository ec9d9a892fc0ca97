"""The editing core of a text field: insert, delete, undo, redo, macros."""


class Edit:
    def __init__(self, at, removed, added):
        self.at = at
        self.removed = removed
        self.added = added

    def apply(self, text):
        return text[:self.at] + self.added + text[self.at + len(self.removed):]

    def inverse(self):
        return Edit(self.at, self.added, self.removed)


class Field:
    def __init__(self, text=""):
        self.text = text
        self.done = []
        self.undone = []
        self.saved = text

    def _do(self, edit):
        edit.text = edit.apply(self.text)  # CAUSE
        self.done.append(edit); self.undone.clear()

    def insert(self, at, words):
        self._do(Edit(at, "", words))

    def delete(self, at, length):
        self._do(Edit(at, self.text[at:at + length], ""))

    def replace(self, old, new):
        at = self.text.find(old)
        if at >= 0:
            self._do(Edit(at, old, new))

    def undo(self):
        if self.done:
            edit = self.done.pop()
            self.text = edit.inverse().apply(self.text)
            self.undone.append(edit)

    def redo(self):
        if self.undone:
            edit = self.undone.pop()
            self.text = edit.apply(self.text)
            self.done.append(edit)

    @property
    def changed(self):
        return self.text != self.saved


def play(field, script):
    for command, *args in script:
        getattr(field, command)(*args)
    return field.text


field = Field("the cat sat")
assert play(field, [("insert", 11, " down"), ("replace", "cat", "dog")]) == "the dog sat down"
assert play(field, [("undo",), ("redo",)]) == "the dog sat down"
final = play(field, [("undo",), ("undo",), ("replace", "sat", "ran"), ("redo",), ("delete", 0, 4)])
assert field.changed
assert final == "cat ran", final
