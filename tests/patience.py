"""How long servers wait in tests with real processes.

A server must never report a healthy program as a broken one because it gets no processor time. So servers that tests
start as processes wait `FACTOR` times as long as usual, by the variable of `serve --patience`, which `conftest.py`
sets; and those in a test's own process that debug real programs have `Patience(FACTOR)` in their settings. A test
about a peer that never answers starts its server with a smaller `--patience`.
"""

FACTOR = 10.0

TOOL_SECONDS = 600.0
"""The `timeout` of tools that wait for a real program, which is a client's own: `client.timeout = TOOL_SECONDS`."""
