"""Ways to an MCP client. Each yields the same pair of streams of `SessionMessage`, as the SDK's server expects them."""
