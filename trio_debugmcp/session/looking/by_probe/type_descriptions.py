"""Types, symbols and references, as the probe answers them, and debuggers of machine code are read."""

import msgspec

from trio_debugmcp.probe.answers import ProbeAnswer


class Member(ProbeAnswer, frozen=True):
    """A member of a class.

    Attributes:
        kind: `fields`, `properties`, `methods`, `classMethods`, `staticMethods` or `attributes`.
        text: its signature, its type, or its value.
        of: the class that defines it, where that is another one.
    """

    name: str
    kind: str
    text: str = ""
    of: str = ""
    file: str = ""
    line: int = 0


class DescribedType(ProbeAnswer, frozen=True):
    """The answer to `type`: a class, or the class of a value, or a function.

    Attributes:
        qualname: of a class, its name in its module.
        size: bytes of an instance, without what it refers to; `item_size` more for each item.
        total: how many members there are of those that were asked for.
        inherited: how many members bases have besides, which are not listed, by the name of the base.
        ended: there was not enough time to find all members.
    """

    name: str
    qualname: str = ""
    file: str = ""
    line: int = 0
    library: bool = False
    function: bool = False
    signature: str = ""
    instance: bool = False
    bases: tuple[str, ...] = ()
    mro: tuple[str, ...] = ()
    metaclass: str = ""
    size: int = 0
    item_size: int = 0
    doc: str = ""
    members: tuple[Member, ...] = ()
    total: int = 0
    inherited: dict[str, int] = msgspec.field(default_factory=dict)
    ended: bool = False


class Symbol(ProbeAnswer, frozen=True):
    """A type, or a function with its signature."""

    name: str
    type: bool = False
    qualname: str = ""
    signature: str = ""
    file: str = ""
    line: int = 0
    library: bool = False


class Symbols(ProbeAnswer, frozen=True):
    """The answer to `symbols`: a page of them, and how many there are in the modules that were searched.

    `searched`: of so many of the `modules`, where there was not enough time for all.
    """

    symbols: tuple[Symbol, ...]
    total: int
    modules: int = 0
    searched: int | None = None
    notes: tuple[str, ...] = ()


class Inbound(ProbeAnswer, frozen=True):
    """What refers to an object.

    Attributes:
        way: from the holder to the object: `.basket`, `[3]`, or words.
        of: the holder, as text; empty where a variable itself is the holder.
        path: the expression that leads to the object, where there is one.
        under: the expression that leads to where the way becomes one of words.
        module: whose global variable the expression begins with.
        local: whether it begins with a local variable, of the function, frame (`index`) and thread or task beside.
    """

    way: str = ""
    of: str = ""
    type: str = ""
    path: str = ""
    under: str = ""
    module: str | None = None
    local: bool = False
    name: str = ""
    function: str = ""
    file: str = ""
    line: int = 0
    index: int | None = None
    thread: int = 0
    thread_name: str = ""
    task: str | None = None


class Outbound(ProbeAnswer, frozen=True):
    """What an object refers to."""

    way: str
    value: str


class InstanceGroup(Inbound, frozen=True):
    """A way by which instances of a class are held, and how many of those that were followed are held so."""

    count: int = 0


class Instances(ProbeAnswer, frozen=True):
    """The answer to `instances`: how many there are, of which so many were `followed`, and the ways that hold them."""

    value: str
    type: str
    instances: int
    followed: int = 0
    groups: tuple[InstanceGroup, ...] = ()
    groups_total: int = 0
    notes: tuple[str, ...] = ()


class References(ProbeAnswer, frozen=True):
    """The answer to `references`. `instances`: of the class that is asked about, besides."""

    value: str
    type: str
    inbound: tuple[Inbound, ...] = ()
    inbound_total: int = 0
    instances: int = 0
    outbound: tuple[Outbound, ...] = ()
    outbound_total: int = 0
    notes: tuple[str, ...] = ()
