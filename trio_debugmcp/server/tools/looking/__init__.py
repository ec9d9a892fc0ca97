"""The tools that look into a program: stacks, threads, values, types, memory, source, output."""
