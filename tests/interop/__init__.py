"""Does the server work with clients that others wrote? TypeScript SDKs, the MCP Inspector, the conformance suite."""
