"""Starts the processes of released clients by forking: what they import is imported once.

Usage: client_host.py SOCKET MODULE.... Imports the modules, listens on the Unix socket and prints
"ready". A connection asks for one process: its first line is JSON with `id`, `script`, `arguments`,
`folder`, `environment` and `errors`, the file for stderr; the rest of the connection is stdin and
stdout of that process. Prints {"id", "pid"} when a process began and {"id", "code"} when it ended.
Ends with its stdin.

The modules may start no thread: a thread, of gRPC for instance, would be missing in the child.
"""

import gc
import importlib
import json
import os
import runpy
import selectors
import socket
import sys
import threading
import time
from pathlib import Path

TASKS = Path("/proc/self/task")
LOOK_SECONDS = 0.02


def main() -> None:
    socket_path, *modules = sys.argv[1:]
    for name in modules:
        importlib.import_module(name)
    gc.freeze()
    request = serve(socket_path)
    if request is not None:
        run(request)


def serve(socket_path: str) -> dict | None:
    """Forks for each connection. Returns in each child with what to run, and at the end with None."""
    with socket.socket(socket.AF_UNIX) as listener, selectors.DefaultSelector() as events:
        listener.bind(socket_path)
        listener.listen()
        events.register(listener, selectors.EVENT_READ)
        events.register(0, selectors.EVENT_READ)
        print("ready", flush=True)
        while True:
            for key, _ in events.select():
                if key.fileobj is listener:
                    request = fork(listener, events)
                    if request is not None:
                        return request
                elif key.fileobj == 0:
                    return None
                else:
                    events.unregister(key.fd)
                    os.close(key.fd)
                    ended_id, pid = key.data
                    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
                    report(id=ended_id, code=code)


def fork(listener: socket.socket, events: selectors.BaseSelector) -> dict | None:
    connection, _ = listener.accept()
    with connection:
        # Unbuffered: what follows the line is for the child.
        with connection.makefile("rb", buffering=0) as stream:
            request = json.loads(stream.readline())
        threads = len(list(TASKS.iterdir())) if TASKS.exists() else threading.active_count()
        if threads != 1:
            raise SystemExit(f"{threads} threads: a child would have one of them")
        # Its writing end is open for as long as the child is: the children of the child do not inherit it.
        life, held = os.pipe()
        pid = os.fork()
        if pid == 0:
            errors = os.open(request["errors"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            for source, target in ((connection.fileno(), 0), (connection.fileno(), 1), (errors, 2)):
                os.dup2(source, target)
            os.close(errors)
            os.close(life)
            return request
        os.close(held)
        events.register(life, selectors.EVENT_READ, (request["id"], pid))
        report(id=request["id"], pid=pid)
        return None


def report(**fields: int) -> None:
    print(json.dumps(fields), flush=True)


def run(request: dict) -> None:
    """Is what `python SCRIPT ARGUMENT...` would be, in that folder and environment."""
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(request["environment"])
    sys.argv = [request["script"], *request["arguments"]]
    time.sleep = until_visit(time.sleep)
    runpy.run_path(request["script"], run_name="__main__")


def until_visit(sleep):
    """The client's clock: a wait is over as soon as the person's browser has finished a way."""
    log = Path(os.environ["INTEROP_BROWSER_LOG"])

    def visited() -> int:
        return log.stat().st_size if log.exists() else 0

    seen = visited()

    def wait(seconds: float) -> None:
        nonlocal seen
        end = time.monotonic() + seconds
        while visited() == seen and (left := end - time.monotonic()) > 0:
            sleep(min(LOOK_SECONDS, left))
        seen = visited()

    return wait


main()
