"""An MCP client that imports no SDK, for commands whose whole time is their start: one request at a time."""
