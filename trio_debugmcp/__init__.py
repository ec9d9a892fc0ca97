"""A live debug session, in any language with a debug adapter, as MCP tools and subscribable resources."""

__version__ = "0.1.0"
