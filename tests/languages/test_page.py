"""What docs/adapters.md says that adapters cannot do is what their acceptance test leaves out."""

from tests.languages.page import PAGE, page


def test_the_page_names_what_each_adapter_cannot_do() -> None:
    text = PAGE.read_text()
    assert page(text) == text, "run: python -m tests.languages.page"
