"""The room `hosts`: configuration files of MCP hosts."""
