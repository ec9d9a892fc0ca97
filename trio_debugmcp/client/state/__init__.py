"""What a client knows of its server, and the tasks that keep it up to date: lists, subscriptions, cache, messages."""
