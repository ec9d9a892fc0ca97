"""What the tools answer: small objects, written for the model that reads them.

`Answer` is the base of their structs; `places`, `values`, `text` and `lines` render the parts, and `stop` is the answer
of every tool that moves the program. A key without news is absent, and what was left out is counted. The words are made
of data, of the payloads of `state.payloads` as far as these have it, which a caller gets instead that passes `full`.
"""
