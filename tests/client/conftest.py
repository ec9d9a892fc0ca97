import pytest

from .peer import Peer


@pytest.fixture(params=["legacy", "modern"])
def peer(request: pytest.FixtureRequest) -> Peer:
    """A scripted server; each test that asks for it runs in both eras."""
    return Peer(modern=request.param == "modern")
