"""Code of ours that is evaluated in a program that pydevd debugs: it is neither traced, nor shown as the program's."""


def untraced(text: str) -> str:
    """Return an expression that runs statements, with globals of their own.

    They have the name of a file of pydevd's, as code that is called `<string>` may be the program's.
    """
    return f"exec(compile({text!r}, 'pydevd.py', 'exec'), {{}})"
