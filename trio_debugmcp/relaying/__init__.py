"""A relay: it brings processes of this machine to the debugger on another one, over one encrypted connection."""
