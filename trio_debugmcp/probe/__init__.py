"""The probe: a module put into a debugged Python program that answers questions as JSON, and our side of it.

`inside/` runs in the program, on Python 3.8 to 3.14, on builtins and modules of its own: what the program patches
changes no answer. `loader.py` brings it there, `packing.py` has what it loads, `bootstrap.py` makes the expressions
that install and call it, `answers.py` decodes what comes back:

    body = await request("evaluate", {"expression": install_expression(), "context": CONTEXT})
    if body.result == SOURCES_NEEDED:
        await request("evaluate", {"expression": install_expression(with_sources=True), "context": CONTEXT})
    body = await request("evaluate", {"expression": call_expression("stop", thread=1), "context": CONTEXT})
    stop = decode(body.result, ProbeStop)

pydevd evaluates an expression without `frameId` on a thread of its own, so an answer comes while the program is
stopped, runs, or waits, unless something keeps the GIL.
"""
