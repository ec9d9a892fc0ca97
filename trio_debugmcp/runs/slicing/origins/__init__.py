"""Where what is there comes from: names, calls, objects, items, and what is out of date of them."""
