"""Numbers on the command line that have bounds."""

import argparse
from collections.abc import Callable
from math import nan


def number_between(least: float, most: float, unit: str = "") -> Callable[[str], float]:
    """Return what reads a number from `least` to `most`, for `type=`; `unit` is said in the error."""

    def read(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = nan
        if not least <= value <= most:
            wanted = f"a number{f' of {unit}' if unit else ''} between {least:g} and {most:g}"
            raise argparse.ArgumentTypeError(f"wants {wanted}, not {text!r}")
        return value

    return read
