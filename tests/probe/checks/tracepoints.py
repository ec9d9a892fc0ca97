import _socket
import json
import os
import signal
import socket
import threading
from typing import Any, List, Tuple

from trio_debugmcp.probe.inside import hits, record_connection
from trio_debugmcp.probe.inside.debugger import attached, seam
from trio_debugmcp.probe.inside.message_templates import MOST_TEXT, Template, TemplateError


def rendered(message: str, **local_names: Any) -> str:
    return Template(message).render({"__builtins__": __builtins__, "above": 7}, local_names)


def check_messages_mean_what_they_mean_in_an_f_string() -> None:
    x, name, prices = 2.5, "tea", {"a:b": 1, "}": [1, 2]}
    assert rendered("{x} {x!r:>6} {x:.2f} {name!r} {name!s:*^7} {name!a}", x=x, name=name) == (
        f"{x} {x!r:>6} {x:.2f} {name!r} {name!s:*^7} {name!a}"
    )
    assert rendered("{{x}} }}{{ {{{x}}}", x=x) == f"{{x}} }}{{ {{{x}}}"
    assert rendered("{prices['a:b']} {prices['}'][1:]} { {1: {2}}[1] }", prices=prices) == "1 [2] {2}"
    assert rendered("{x != 2} {x == 2.5:d} {'!r' if x!=3 else ':'}", x=x) == "True 1 !r"
    assert (
        rendered("{x:{width}.{digits}f}|{name:{'>'}{width}}", x=x, name=name, width=8, digits=1) == "     2.5|     tea"
    )
    assert rendered("{x=} {x = !s} {name=:>5}", x=x, name=name) == "x=2.5 x = 2.5 name=  tea"
    assert rendered('{"""a}"b"""} {(lambda y: y + 1)(x)} {[p for p in range(3) if p < x]}', x=x) == 'a}"b 3.5 [0, 1, 2]'
    assert rendered("{above}{x, 1}", x=x) == "7(2.5, 1)"
    assert rendered("no braces") == "no braces"


def check_a_part_that_fails_is_said_and_the_others_are_shown() -> None:
    class Bad:
        def __str__(self) -> str:
            raise KeyError("k")

        def __format__(self, how: str) -> str:
            raise SystemExit(3)

    assert rendered("{a} {nope} {1/0:.2f} {bad!s} {bad}", a=1, bad=Bad()) == (
        "1 <error: NameError: name 'nope' is not defined> <error: ZeroDivisionError: division by zero> "
        "<error: KeyError: 'k'> <error: SystemExit: 3>"
    )
    assert rendered("{'x' * 10000}") == "x" * MOST_TEXT + "… (+2000 characters)"


def check_what_a_message_names_is_there_for_its_next_fields_and_nowhere_afterwards() -> None:
    module = {"__builtins__": __builtins__, "n": 3}  # at the level of a module, globals and locals are one
    assert Template("{(q := n)} {q + 1} {[q + x for x in (1, 2)]} {[r := x for x in (1,)]} {r}").render(
        module, module
    ) == ("3 4 [4, 5] [1] 1")
    assert sorted(module) == ["__builtins__", "n"]


def check_what_has_no_sense_is_found_without_running_it() -> None:
    for message, problem in (
        ("{a +}", "{a +}: SyntaxError"),
        ("{}", "{}: SyntaxError: an empty expression"),
        ("{a:{b +}}", "{b +}: SyntaxError"),
    ):
        assert (Template(message).problem() or "").startswith(problem), message
    assert Template("{a!r:>{w}} {{").problem() is None
    for message in ("{a", "a}", "{a!x}", "{a!r", "{'a}", "{a:{b:{c}}}", "{a:>5"):
        try:
            Template(message)
        except TemplateError:
            assert Template(message, lenient=True).render({}, {}).startswith(message + " <error: ")
        else:
            raise AssertionError(message)


class Listener(seam.ProgramDebugger):
    """A debugger and what it is connected to, which accepts connections for records."""

    def __init__(self) -> None:
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.connections: List[socket.socket] = []
        self.greetings: List[bytes] = []
        self.accepts = True
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self) -> None:
        while True:
            connection, _ = self.listener.accept()
            connection.sendall(b"words for others")
            self.greetings.append(connection.recv(100))
            if self.accepts:
                self.connections.append(connection)
                connection.sendall(b"\0")
            else:
                connection.close()

    def record_peer(self) -> seam.RecordPeer:
        return seam.RecordPeer(socket.AF_INET, self.listener.getsockname(), "token")

    def records(self, number: int = -1) -> List[List[Any]]:
        self.connections[number].settimeout(5)
        data = b""
        while not data.endswith(b"\n"):
            data += self.connections[number].recv(100000)
        return [json.loads(line) for line in data.splitlines()]


def recording(key: str) -> Tuple[Listener, Any]:
    listener = Listener()
    attached.attach(listener)
    return listener, record_connection.open_line(key)


def judged(*specifications: List[Any], **local_names: Any) -> bool:
    condition = f"hit({json.dumps(specifications)!r})"
    return bool(eval(condition, {"hit": hits.hit}, local_names))


def check_hits_are_judged_counted_and_recorded() -> None:
    listener, line = recording("7")
    assert listener.greetings == [b"trio_debugmcp records token 7\n"]
    assert record_connection.open_line("7") is line
    every, third = ["tp-1", 1, None, None, "{x!r}"], ["bp-2", 1, "x > 1", "% 3", None]
    stops = [judged(every, third, x=x) for x in range(7)]
    assert [x for x in range(7) if stops[x]] == [4]
    records = listener.records()
    assert [each for each in records if each[1] == "tp-1"] == [["log", "tp-1", 1, x + 1, str(x)] for x in range(7)]
    assert [each[:4] for each in records if each[1] == "bp-2"] == [
        *(["count", "bp-2", 1, 1], ["count", "bp-2", 1, 2], ["stop", "bp-2", 1, 3]),
        *(["count", "bp-2", 1, 4], ["count", "bp-2", 1, 5]),
    ]
    assert judged(["bp-3", 1, "nope", "5", None]), "a condition that fails stops"
    assert not judged(["tp-4", 1, "nope", None, "never"])
    assert not judged(["tp-4", 2, "1 +", None, "never"])
    assert [[*each[:2], each[3], each[4].partition(":")[0]] for each in listener.records()] == [
        ["fail", "bp-3", 1, "NameError"], ["fail", "tp-4", 0, "NameError"], ["fail", "tp-4", 0, "SyntaxError"],
    ]  # fmt: skip
    for form, expected in (("3", [3]), ("== 3", [3]), (">= 3", [3, 4]), ("> 3", [4]), ("< 3", [1, 2]), ("<= 1", [1])):
        spec = ["of " + form, 1, None, form, None]
        assert [number for number in range(1, 5) if judged(spec)] == expected, form


def check_a_tracepoint_ends_with_its_last_message_and_evaluates_nothing_more() -> None:
    listener, _ = recording("14")
    evaluated: List[int] = []
    names = {"note": evaluated.append}
    third = ["tp-1", 1, "not note(x)", "% 3", "i={x} {nope} {{x}}", 2]
    assert [judged(third, x=x, **names) for x in range(10)] == 10 * [False]
    assert [each[:4] for each in listener.records()] == [
        [kind, "tp-1", 1, number] for number, kind in enumerate(("count", "count", "log") * 2, 1)
    ]
    assert evaluated == list(range(6)), "really taken away at the sixth hit"
    judged([*third[:1], 2, *third[2:]], x=7, **names)
    assert listener.records() == [["count", "tp-1", 2, 1, ""]], "a new version begins anew"


def check_threads_share_the_limit_of_a_tracepoint() -> None:
    listener, _ = recording("15")
    go = threading.Barrier(8)

    def work() -> None:
        go.wait()
        for x in range(200):
            judged(["tp-1", 1, None, None, "{x}", 5], x=x)

    workers = [threading.Thread(target=work) for _ in range(8)]
    for each in workers:
        each.start()
    for each in workers:
        each.join()
    assert sorted(each[3] for each in listener.records()) == [1, 2, 3, 4, 5]


def check_a_message_with_half_characters_is_recorded_as_visible_text() -> None:
    listener, _ = recording("13")
    judged(["tp-1", 1, None, None, "{name}"], ["bp-2", 1, "{}[name]", None, None], name="caf\udce9")
    log, failed = listener.records()
    assert log == ["log", "tp-1", 1, 1, "caf\\udce9"]
    assert failed[:2] == ["fail", "bp-2"]
    assert "\udce9" not in failed[4]


def check_a_version_of_its_own_is_counted_from_one() -> None:
    listener, _ = recording("8")
    for version in (1, 1, 2):
        judged(["bp-1", version, None, None, None])
    assert [each[2:4] for each in listener.records()] == [[1, 1], [1, 2], [2, 1]]


def check_a_descriptor_that_the_program_has_taken_is_not_written_to() -> None:
    listener, line = recording("9")
    ours = line._socket.fileno()
    assert not os.get_inheritable(ours)
    assert line._socket.family == _socket.AF_INET
    kept, other = os.pipe()
    os.dup2(other, ours)
    judged(["tp-1", 1, None, None, "x"])
    os.write(other, b"own")
    assert os.read(kept, 100) == b"own"
    assert listener.records() == [["log", "tp-1", 1, 1, "x"]], "over a new connection"
    assert len(listener.connections) == 2
    os.close(ours)


def check_a_record_is_never_sent_twice_or_in_part_whatever_signal_handlers_raise_meanwhile() -> None:
    class Late(Exception):
        pass

    def late(*_: Any) -> None:
        raise Late

    listener, line = recording("16")
    received: List[bytes] = []
    reader = threading.Thread(target=lambda: received.extend(iter(lambda: listener.connections[0].recv(1 << 20), b"")))
    reader.start()
    before = signal.signal(signal.SIGALRM, late)
    written: List[int] = []
    for number in range(60):
        try:
            try:
                signal.setitimer(signal.ITIMER_REAL, 0.00002 * (number + 1))
                line.write(json.dumps([number, "x" * 100_000]).encode() + b"\n")
                written.append(number)
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
        except Late:
            pass
    signal.signal(signal.SIGALRM, before)
    line.close()
    reader.join()
    found = [json.loads(each)[0] for each in b"".join(received).splitlines()]
    assert found == sorted({*found, *written}), found


def check_the_program_runs_on_when_the_debugger_has_gone() -> None:
    listener, line = recording("10")
    listener.accepts = False
    listener.connections[0].close()
    for _ in range(1000):
        judged(["tp-1", 1, None, None, "{'x' * 5000}"])
    assert not line.is_open
    assert judged(["bp-1", 1, None, None, None]), "a breakpoint stops all the same"
    try:
        record_connection.open_line("11")
    except seam.RefusedError:
        pass
    else:
        raise AssertionError("it was refused")


def check_a_fork_does_not_write_into_its_parents_connection() -> None:
    listener, _ = recording("12")
    child = os.fork()
    if not child:
        os._exit(5 if judged(["tp-1", 1, None, None, "child"], ["bp-1", 1, None, None, None]) else 0)
    assert os.waitpid(child, 0)[1] == 0
    judged(["tp-1", 1, None, None, "parent"])
    assert [each[4] for each in listener.records()] == ["parent"]
