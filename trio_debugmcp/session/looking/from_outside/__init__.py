"""Looking from outside: a process that does not answer, as the system and py-spy show it."""
