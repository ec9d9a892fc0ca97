"""`EditRefusedError`: a configuration file in which our entry cannot be set without a risk for what is in it."""


class EditRefusedError(Exception):
    """The file cannot be edited; its text is the reason. Nothing was written."""
