"""Expands URI templates (RFC 6570) for reads: a parameter that is missing or misspelled is an error.

The RFC lets a variable without a value expand to nothing. What is read then is another resource than was meant, so only
the parameters of a query (`{?q}`, `{&page}`), which are optional by their nature, may be missing.
"""

from collections.abc import Mapping

from trio_debugmcp.errors import UsageError

_OPTIONAL = ("?", "&")
"""The operators whose variables may be missing."""


def expanded_uri(uri_template: str, params: Mapping[str, str]) -> str:
    """Expand a template.

    Raises:
        UsageError: `params` do not fit it, or it is not a template.
    """
    from mcp import InvalidUriTemplate, UriTemplate

    try:
        template = UriTemplate.parse(uri_template)
        needed = [
            variable.name
            for variable in template.variables
            if variable.name not in params and variable.operator not in _OPTIONAL
        ]
        unknown = [name for name in params if name not in template.variable_names]
        if needed or unknown:
            problems = [
                *([f"it needs {', '.join(needed)}"] if needed else []),
                *([f"it has no parameter {', '.join(map(str, unknown))}"] if unknown else []),
            ]
            raise ValueError("; ".join(problems))
        return template.expand(params)
    except (InvalidUriTemplate, TypeError, ValueError) as error:
        raise UsageError("INVALID_PARAMETER", f"Cannot expand {uri_template!r}: {error}") from error
