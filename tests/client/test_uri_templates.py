"""URI templates that are expanded for a read: what is missing or misspelled is named."""

import pytest

from trio_debugmcp.client.uri_templates import expanded_uri
from trio_debugmcp.errors import UsageError


@pytest.mark.parametrize(
    ("template", "params", "uri"),
    [
        ("demo://{name}/{+rest}", {"name": "a b", "rest": "c/d"}, "demo://a%20b/c/d"),
        ("demo://x{?q,page}", {"q": "1"}, "demo://x?q=1"),
        ("demo://x{?q}", {}, "demo://x"),
        ("demo://{name}", {"name": ""}, "demo://"),
        ("demo://x", {}, "demo://x"),
    ],
)
def test_a_template_is_expanded_and_a_query_may_be_left_out(template: str, params: dict[str, str], uri: str) -> None:
    assert expanded_uri(template, params) == uri


@pytest.mark.parametrize(
    ("template", "params", "said"),
    [
        ("demo://{name}", {}, "it needs name"),
        ("demo://{a}{/b}{?c}", {"c": "1"}, "it needs a, b"),
        ("demo://{name}", {"nmae": "x"}, "it needs name; it has no parameter nmae"),
        ("demo://{name}", {"name": "x", "more": "y"}, "it has no parameter more"),
        ("demo://{name", {"name": "x"}, "Cannot expand 'demo://{name'"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(template: str, params: dict[str, str], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        expanded_uri(template, params)
