"""Python, debugged by debugpy: source, interpreters, tests, and what programs print."""
