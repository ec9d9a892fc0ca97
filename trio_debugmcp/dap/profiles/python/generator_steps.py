"""A step out of a generator, which ends where its next value goes, as where a function returns.

pydevd continues to where the generator has ended: past all that its caller does with the values in between. It looks up
the line of an event among those that return; here those that yield are among them while the thread steps out.
"""

GENERATOR_STEPS = """
def out_of_generators(debugger, current_thread, opcode, dis):
    returns_of = debugger.collect_return_info
    class YieldLine:
        def __init__(self, line):
            self.line = line
        def __hash__(self):
            return hash(self.line)
        def __eq__(self, line):
            info = getattr(current_thread(), "additional_info", None)
            return line == self.line and info is not None and info.pydev_step_cmd in (109, 160)
    class Yield:
        def __init__(self, line):
            self.return_line = YieldLine(line)
    def collect_return_info(code, *options, **more):
        found = list(returns_of(code, *options, **more))
        if code.co_flags & 0x2A0 != 0x20:  # not a generator, or one that awaits
            return found
        starts, line = dict(dis.findlinestarts(code)), code.co_firstlineno
        for offset in range(0, len(code.co_code), 2):
            line = starts.get(offset) or line
            if opcode.opname[code.co_code[offset]] == "YIELD_VALUE":
                found.append(Yield(line))
        return found
    debugger.collect_return_info = collect_return_info
opcode, dis = sys.modules.get("opcode"), sys.modules.get("dis")
debugger = pydevd.get_global_debugger() if hasattr(pydevd, "get_global_debugger") else None
if hasattr(debugger, "collect_return_info") and hasattr(pydevd, "threadingCurrentThread") and opcode and dis:
    out_of_generators(debugger, pydevd.threadingCurrentThread, opcode, dis)
"""
"""Statements, for programs that pydevd debugs."""
