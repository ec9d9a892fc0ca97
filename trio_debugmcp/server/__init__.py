"""The MCP surface: requests in, answers out. It holds no state of its own."""
