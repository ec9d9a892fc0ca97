"""Starts children in the ways that are its arguments, one after the other; each of them does a piece of work."""

import concurrent.futures
import multiprocessing
import os
import subprocess
import sys
import time


def work(way):
    done = "done in " + way
    print(done, flush=True)
    return done


def fork():
    pid = os.fork()
    if not pid:
        work("fork")
        os._exit(0)
    os.waitpid(pid, 0)


def method(name):
    process = multiprocessing.get_context(name).Process(target=work, args=(name,))
    process.start()
    process.join()


def spawn():
    method("spawn")


def forkserver():
    method("forkserver")


def run(*words):
    subprocess.run([sys.executable, __file__, *words], check=True)


def child():
    run("work=child")


def grandchild():
    run("child=grandchild")


def futures():
    with concurrent.futures.ProcessPoolExecutor(1) as pool:
        pool.submit(work, "futures").result()


def double():
    """A daemon: its parent ends at once, and it leaves the process session. Ours waits for it by a pipe."""
    reader, writer = os.pipe()
    pid = os.fork()
    if not pid:
        os.setsid()
        if not os.fork():
            work("double")
            os.write(writer, b"!")
        os._exit(0)
    os.waitpid(pid, 0)
    os.read(reader, 1)


def many():
    """Fifty at once, each of them short."""
    pids = []
    for _ in range(50):
        pid = os.fork()
        if not pid:
            os._exit(0)
        pids.append(pid)
    for pid in pids:
        os.waitpid(pid, 0)


def orphan():
    """A daemon whose parents have all ended when it works."""
    if not os.fork():
        os.setsid()
        if not os.fork():
            time.sleep(0.5)
            work("orphan")
        os._exit(0)


def daemons():
    """Ten, each of them without a parent as soon as it is there."""
    for _ in range(10):
        if not os.fork():
            if not os.fork():
                work("daemon")
            os._exit(0)


def execs():
    """Replaces itself six times; each of the programs works, and replaces itself in the next way."""
    python, rest = sys.executable, ["work=execv", "execve"]
    os.execv(python, [python, __file__, *rest])


def execve():
    os.execve(sys.executable, [sys.executable, __file__, "work=execve", "execl"], {**os.environ})


def execl():
    os.execl(sys.executable, sys.executable, __file__, "work=execl", "execvp")


def execvp():
    os.execvp(sys.executable, [sys.executable, __file__, "work=execvp", "execlp"])


def execlp():
    os.execlp(sys.executable, sys.executable, __file__, "work=execlp")


if __name__ == "__main__":
    for word in sys.argv[1:]:
        name, _, way = word.partition("=")
        if name == "work":
            work(way)
        elif way:
            run(f"work={way}")
        else:
            globals()[name]()
