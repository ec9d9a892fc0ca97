"""The scenario format, the player that runs it on a virtual clock, and the conversion from a recording."""
