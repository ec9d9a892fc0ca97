"""The probe: a module put into a debugged Python program that answers questions as JSON, and our side of it.

`inside/` runs in the program, on Python 3.8 to 3.14, with the standard library alone and without importing a module
that the program has not imported. `bootstrap.py` makes the expressions that install and call it, `answers.py` decodes
what comes back:

    await request("evaluate", {"expression": install_expression(), "context": CONTEXT})
    body = await request("evaluate", {"expression": call_expression("stop", thread=1), "context": CONTEXT})
    stop = decode(StopAnswer, body.result)

pydevd evaluates an expression without `frameId` on a thread of its own, so an answer comes while the program is
stopped, runs, or waits, unless something keeps the GIL.
"""
