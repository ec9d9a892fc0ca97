"""Sources of recorded code: scopes, statements, and what they read and write."""
