"""Whether anything will catch an exception: judged at the raise, before any handler or cleanup has run.

    verdict = propagation.judge(exception, frame, offset)
    if verdict.outcome is verdicts.UNKNOWN:
        ...  # ask again in the RAISE event of verdict.frame, or when verdict.frame is left

`propagation.judge` walks from the raising frame outward. `handlers` reads from a code object, once for each
instruction, what its handlers do with an exception; `namespaces` reads the names of a handler in a frame; `managers`
judges `with` blocks, `c_calls` what C code does between two frames, and `runners` is the table of the functions where a
program, a task or a test ends.

The modules run in the debugged program on CPython 3.12 and 3.13; 3.14 is written after its documentation. They import
their siblings and `sys`, run no code of the program (types are compared by `__mro__`, read by `type`'s own descriptor),
and answer "unknown" rather than raise.
"""
