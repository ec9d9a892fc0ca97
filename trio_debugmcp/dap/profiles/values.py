"""`Values`: how an adapter shows values of the debugged language, and by which paths what is inside is reached."""


class Values:
    """The defaults suit adapters that say most of it themselves."""

    def trusts(self, evaluate_name: str | None) -> bool:
        """Whether the adapter's own path to a variable is one that the language has."""
        return bool(evaluate_name)

    def member(self, parent: str, name: str, parent_type: str | None) -> str | None:
        """The path of what is inside of a value, by the name that the adapter shows; None if there is none."""
        if name.startswith("["):
            return f"{parent}{name}"
        return f"{parent}[{name}]" if name.isdigit() else f"{parent}.{name}"

    def is_target(self, name: str, parent_type: str | None) -> bool:
        """Whether a child of that name is what its parent, a pointer or a reference, leads to."""
        return False

    def is_leaf(self, value: str, kind: str | None) -> bool:
        """Whether a value is shown whole, as a string is, so that its parts are not shown."""
        return False

    def bare_type(self, kind: str | None) -> str:
        """The name of a type, without what does not belong to it: `Item` of `const Item &`."""
        return kind or ""

    def plain_type(self, kind: str | None) -> str | None:
        """The type of a value among others, where the adapter's name for it says more than that."""
        return kind

    def is_bare(self, value: str, kind: str | None) -> bool:
        """Whether a value shows nothing of what is inside."""
        return False
