"""The debugger in the program, as the probe sees it: one seam, and pydevd behind it."""
