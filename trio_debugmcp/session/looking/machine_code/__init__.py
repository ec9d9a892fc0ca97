"""Looking into programs of machine code: their threads, types, symbols and addresses."""
