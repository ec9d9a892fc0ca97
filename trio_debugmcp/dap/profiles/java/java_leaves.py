"""Values of Java that are one for their user: numbers, dates, texts, as they print themselves. Pure.

    LEAVES["java.time.LocalDate"]({"year": "2024", "month": "3", "day": "9"})      # 2024-03-09

Each takes the values of its fields as the adapter shows them; what is not as expected is a `KeyError` or `ValueError`.
"""

import uuid
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal

_NOT_COMPACT = -(2**63)
"""What a BigDecimal has for its digits if they are too many for a `long`."""

_Plain = Mapping[str, str]


def whole_number(elements: Sequence[str]) -> int:
    """Return the number whose digits of 32 bits, the first ones first, these are."""
    number = 0
    for element in elements:
        number = (number << 32) | (int(element) & 0xFFFFFFFF)
    return number


def text_of_bytes(elements: Sequence[str], fields: Mapping[str, object]) -> str:
    """Return a text whose bytes these are, of one or of two to a character: `coder` of a builder says which."""
    data = bytes(int(element) & 0xFF for element in elements)
    is_wide = getattr(fields.get("coder"), "value", "0") == "1"
    return data.decode("utf-16-le" if is_wide else "utf-8" if "path" in fields else "latin-1", errors="replace")


def _value(fields: _Plain) -> str:
    return fields["value"]


def _date(fields: _Plain) -> str:
    return f"{int(fields['year']):04}-{int(fields['month']):02}-{int(fields['day']):02}"


def _time(fields: _Plain) -> str:
    nanos, seconds = int(fields["nano"]), int(fields["second"])
    shown = f"{int(fields['hour']):02}:{int(fields['minute']):02}"
    return shown + (f":{seconds:02}" if seconds or nanos else "") + _fraction(nanos)


def _fraction(nanos: int) -> str:
    """Return nanoseconds in groups of three digits, as many as it takes."""
    digits = f"{nanos:09}"
    while digits.endswith("000"):
        digits = digits[:-3]
    return f".{digits}" if digits else ""


def _moment(seconds: int, nanos: int) -> str:
    moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds)
    return f"{moment:%Y-%m-%dT%H:%M:%S}{_fraction(nanos)}Z"


def _duration(fields: _Plain) -> str:
    nanos = int(fields["seconds"]) * 10**9 + int(fields["nanos"])
    sign = "-" if nanos < 0 else ""  # each part has it: the fields of -1.5 s are -2 s and half a second
    seconds, fraction = divmod(abs(nanos), 10**9)
    hours, rest = divmod(seconds, 3600)
    minutes, last = divmod(rest, 60)
    shown = (f"{sign}{hours}H" if hours else "") + (f"{sign}{minutes}M" if minutes else "")
    decimals = f".{fraction:09}".rstrip("0") if fraction else ""
    return f"PT{shown}" + (f"{sign}{last}{decimals}S" if last or fraction or not shown else "")


def _decimal(fields: _Plain) -> str:
    compact = int(fields["intCompact"])
    number = int(fields["intVal"]) if compact == _NOT_COMPACT else compact
    digits = tuple(int(digit) for digit in str(abs(number)))
    return str(Decimal((int(number < 0), digits, -int(fields["scale"]))))


def _integer(fields: _Plain) -> str:
    return str(int(fields["signum"]) * int(fields["mag"]))


def _uuid(fields: _Plain) -> str:
    most, least = (int(fields[name]) & (2**64 - 1) for name in ("mostSigBits", "leastSigBits"))
    return str(uuid.UUID(int=(most << 64) | least))


def _builder(fields: _Plain) -> str:
    units = fields["value"].encode("utf-16-le")  # which `count` counts
    return f'"{units[: 2 * int(fields["count"])].decode("utf-16-le", errors="replace")}"'


def _perhaps(kind: str) -> Callable[[_Plain], str]:
    return lambda fields: f"{kind}[{fields['value']}]" if fields["isPresent"] == "true" else f"{kind}.empty"


LEAVES: dict[str, Callable[[_Plain], str]] = {
    **{f"java.lang.{kind}": _value for kind in ("Integer", "Long", "Short", "Byte", "Double", "Float", "Boolean")},
    "java.lang.Character": lambda fields: f"'{fields['value']}'",
    "java.lang.StringBuilder": _builder,
    "java.lang.StringBuffer": _builder,
    "java.util.concurrent.atomic.AtomicInteger": _value,
    "java.util.concurrent.atomic.AtomicLong": _value,
    "java.util.concurrent.atomic.AtomicBoolean": lambda fields: "true" if int(fields["value"]) else "false",
    "java.math.BigDecimal": _decimal,
    "java.math.BigInteger": _integer,
    "java.util.UUID": _uuid,
    "java.util.Date": lambda fields: _moment(
        int(fields["fastTime"]) // 1000, int(fields["fastTime"]) % 1000 * 1_000_000
    ),
    "java.time.LocalDate": _date,
    "java.time.LocalTime": _time,
    "java.time.LocalDateTime": lambda fields: f"{fields['date']}T{fields['time']}",
    "java.time.Instant": lambda fields: _moment(int(fields["seconds"]), int(fields["nanos"])),
    "java.time.Duration": _duration,
    **{f"java.util.Optional{kind}": _perhaps(f"Optional{kind}") for kind in ("Int", "Long", "Double")},
    "sun.nio.fs.UnixPath": lambda fields: f'"{fields["path"]}"',
}
"""By the names of the classes."""
