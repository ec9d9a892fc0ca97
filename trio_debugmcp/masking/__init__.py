"""Secrets in what clients see: found by their form or by their name, and replaced by a label and a length. Pure."""
