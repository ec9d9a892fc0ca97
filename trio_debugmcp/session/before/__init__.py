"""What runs before a session and beside it: builds, and the tasks of tasks.json."""
