"""The MCP surface: requests in, answers out. What is true about the program is in `state`, not here."""
