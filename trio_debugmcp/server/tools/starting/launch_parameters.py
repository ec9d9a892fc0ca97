"""What `debug_launch` takes: what is to be run, and where and how it stops."""

from typing import Annotated, Any, Literal

from msgspec import Meta

from trio_debugmcp.server.tools.breakpoints.breakpoint_parameters import BreakpointSet
from trio_debugmcp.server.tools.starting.mappings import Mapping as PathMap
from trio_debugmcp.server.tools.starting.run_settings import RunSettings
from trio_debugmcp.server.tools.tool import NewSession, Params, Seconds, Show, Wait

AdapterOptions = Annotated[
    dict[str, Any],
    Meta(description='Further arguments of the adapter, e.g. {"python": ["/path/to/python"]}.'),
]


class WhatRuns(Params, frozen=True, kw_only=True):
    """The base of what runs a program: which one, and with what."""

    program: Annotated[str | None, Meta(description="Source file or executable.")] = None
    module: Annotated[
        Annotated[str, Meta(min_length=1)] | None, Meta(description="Or a module, as for `python -m`.")
    ] = None
    code: Annotated[
        Annotated[str, Meta(min_length=1)] | None,
        Meta(description="Or source code: its breakpoints need no `file`."),
    ] = None
    test: Annotated[
        Annotated[str, Meta(min_length=1)] | None,
        Meta(description="Or a test: `test_a.py::test_b`, `a.py:12`, `test_b`, `a.test.ts::adds up`."),
    ] = None
    args: Annotated[list[str], Meta(description="Its arguments.")] = []
    cwd: Annotated[str | None, Meta(description="Default: the server's directory.")] = None
    env: Annotated[dict[str, str | None], Meta(description="Added; null removes.")] = {}
    stdin: Annotated[str | None, Meta(description="The whole of it.")] = None


class LaunchBreakpoint(BreakpointSet, frozen=True, kw_only=True):
    exception: Annotated[
        Annotated[str, Meta(min_length=1)] | None,
        Meta(description="An exception's type, in place of a line; with `file`, also a directory: only there."),
    ] = None


class DebugLaunch(WhatRuns, frozen=True, kw_only=True):
    url: Annotated[Annotated[str, Meta(min_length=1)] | None, Meta(description="Or a web page.")] = None
    adapter: Annotated[str | None, Meta(description="Debug adapter or language; default: by the program.")] = None
    stop_at_entry: Annotated[bool | None, Meta(description="Default: only without breakpoints and `record`.")] = None
    stop_on_uncaught: Annotated[bool, Meta(description="Stop where an exception that nothing catches is raised.")] = (
        True
    )
    breakpoints: Annotated[
        list[LaunchBreakpoint], Meta(description="As for breakpoint_set, or {exception: TYPE}; all or none.")
    ] = []
    record: Annotated[
        bool | RunSettings,
        Meta(description="Keep what the project's own code does, to be asked afterwards."),
    ] = False
    show: Show = []
    replace: Annotated[bool, Meta(description="End the session that is there.")] = False
    new_session: NewSession = False
    dev_server: Annotated[
        Annotated[str, Meta(min_length=1)] | None,
        Meta(description="With `url`: a command that serves it, such as `npm run dev`; it ends with the session."),
    ] = None
    console: Annotated[
        Literal["pipes"],
        Meta(description="How the program's streams are connected: by pipes that the server owns."),
    ] = "pipes"
    just_my_code: Annotated[
        bool | None, Meta(description="Step over library code and do not stop in it; default: true.")
    ] = None
    adapter_options: AdapterOptions = {}
    path_mappings: Annotated[
        list[PathMap], Meta(description="Where the program has, or was built from, the files of this machine.")
    ] = []
    wait: Wait = True
    timeout: Seconds = 30.0
