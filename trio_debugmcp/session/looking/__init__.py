"""Looking into a program: by its probe, by its adapter, or from outside."""
