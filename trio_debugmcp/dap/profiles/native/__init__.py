"""Programs of machine code: C, C++, Rust, Go as their files, debuggers and runtimes describe them."""
