"""Variables as clients see them: cut to size, and with a path that finds them again. Pure."""

from collections.abc import Callable, Sequence
from hashlib import blake2b

from msgspec import UNSET

from trio_debugmcp.dap.messages import DapVariable, EvaluateBody
from trio_debugmcp.dap.profiles import Profile
from trio_debugmcp.probe.answers import ProbeError, ProbeVariable
from trio_debugmcp.state.payloads import MAX_VALUE_LENGTH, Variable, shortened


def variable_payload(
    variable: DapVariable,
    profile: Profile,
    *,
    limit: int = MAX_VALUE_LENGTH,
    parent: str | None = None,
    parent_type: str | None = None,
) -> Variable:
    """Return a variable as clients see it, without its children; it has a path if that would be accepted back."""
    path = variable.evaluate_name if profile.values.trusts(variable.evaluate_name) else None
    path = path or (profile.values.member(parent, variable.name, parent_type) if parent else variable.name)
    return Variable(
        name=variable.name,
        value=shortened(variable.value, limit),
        type=variable.type,
        path=path if path and profile.expressions.is_path(path) else None,
        child_count=child_count(variable),
        # What the adapter itself has cut is not known.
        digest=_digest(variable.value) if len(variable.value) > limit else None,
    )


def _digest(text: str) -> str:
    return blake2b(text.encode(errors="surrogatepass"), digest_size=8).hexdigest()


def child_count(value: DapVariable | EvaluateBody) -> int | None:
    """Return how many children a value has: 0 for a leaf, None if the adapter does not count them."""
    if not value.variables_reference:
        return 0
    counted = (value.named_variables or 0) + (value.indexed_variables or 0)
    return counted or None


_UNKNOWN = "<repr took over 0.5 s>"

_ONE_IS_SLOW = "<no repr: one of these values took over 0.5 s>"


def failed_value(error: ProbeError) -> str:
    """Return what stands for a value that the probe could not tell, for another reason than that it took long."""
    return shortened(f"<not shown: {error}>", MAX_VALUE_LENGTH)


def unknown_value(values: Sequence[ProbeVariable], error: ProbeError | None = None) -> str:
    """Return what stands for the values that were withheld, and are not known because of an error of the probe."""
    if error is not None and error.kind != "slow":
        return failed_value(error)
    return _UNKNOWN if sum(each.withheld for each in values) <= 1 else _ONE_IS_SLOW


def probe_variable(variable: ProbeVariable, is_path: Callable[[str], bool], unknown: str | None = None) -> Variable:
    """Return a variable of the probe's as clients see it; `unknown` stands for a value that was withheld."""
    path = variable.name if variable.path is None else variable.path
    return Variable(
        name=variable.name,
        value=variable.value if unknown is None or not variable.withheld else unknown,
        type=variable.type,
        path=path if path.isidentifier() or (path and is_path(path)) else None,
        child_count=variable.size,
        digest=variable.digest,
        children=[probe_variable(each, is_path, unknown) for each in variable.children] or UNSET,
    )
