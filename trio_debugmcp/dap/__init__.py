"""The Debug Adapter Protocol: framing, messages, connections and adapters. Knows nothing of MCP."""
