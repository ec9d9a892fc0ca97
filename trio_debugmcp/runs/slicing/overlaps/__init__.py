"""What runs at the same time: calls side by side, lost updates, and who waits for whom."""
