"""Programs to try the debugger on."""
