"""Hunts: a program run again and again, until it fails; on this machine, or by Dask or Ray."""
