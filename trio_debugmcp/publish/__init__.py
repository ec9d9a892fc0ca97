"""From changed resources to the clients that subscribed to them."""
