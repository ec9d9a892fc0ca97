"""What ran, and what values were: statements as they ran, values at a moment, a moment whole."""
