"""People beside agents: who is here, who holds the programs, what was said, what was asked, what was done."""
