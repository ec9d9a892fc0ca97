"""Who can connect, over which transport, what is refused, and how a connection ends."""
