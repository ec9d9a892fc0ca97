"""How a client reaches a server: targets, server processes, one connection, and the supervisor that makes the next."""
