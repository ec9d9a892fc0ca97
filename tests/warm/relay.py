"""Stands in for a process that the parent forks; see the package. Imports only what loads at once."""

import json
import os
import signal
import socket
import sys


def main(path: str, module: str, *arguments: str) -> None:
    with socket.socket(socket.AF_UNIX) as parent:
        parent.connect(path)
        request = json.dumps([os.getpid(), module, arguments, os.getcwd(), dict(os.environ)]).encode()
        socket.send_fds(parent, [len(request).to_bytes(4, "big")], [0, 1, 2])
        parent.sendall(request)
        null = os.open(os.devnull, os.O_RDWR)
        for number in (0, 1, 2):  # only the process holds the pipes, so they close when it ends
            os.dup2(null, number)
        process = _number(parent)
        for passed_on in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(passed_on, lambda number, _: os.kill(process, number))
        code = _number(parent)
    if code < 0:
        signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(code)


def _number(parent: socket.socket) -> int:
    data = parent.recv(4, socket.MSG_WAITALL)
    if len(data) < 4:
        sys.exit("the parent has ended")
    return int.from_bytes(data, "big", signed=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
