"""Looking by the debug adapter: frames, variables and sources as the Debug Adapter Protocol has them."""
