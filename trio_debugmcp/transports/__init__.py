"""Ways to an MCP client: each yields the same pair of streams of `SessionMessage`, as the SDK's server expects them."""
