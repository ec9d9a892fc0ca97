"""Editors as clients: a server of the Debug Adapter Protocol, which calls the tools of `server/` as any client does."""
