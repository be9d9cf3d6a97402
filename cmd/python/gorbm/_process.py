"""Starts the program gorbm-python and exchanges messages with it.

A message is the length of a JSON header, the header, and arrays: see frame.go. The program is a child process that ends
when its standard input ends, so it cannot outlive this process.
"""

import json
import os
import queue
import struct
import subprocess
import sys
import tempfile
import threading
import weakref

import numpy as np

_TYPES = ("|u1", "<i4", "<f4")


class TrainingError(RuntimeError):
    """gorbm-python failed, for example because a parameter became infinite."""


def program():
    """Return the path of gorbm-python: $GORBM_PYTHON, or the program in this package."""
    name = "gorbm-python.exe" if sys.platform == "win32" else "gorbm-python"
    path = os.environ.get("GORBM_PYTHON") or os.path.join(os.path.dirname(__file__), "bin", name)
    if not os.path.exists(path):
        raise FileNotFoundError(f"{path} does not exist; install the package with pip, or set GORBM_PYTHON to a gorbm-python built by Go")
    return path


def workers(n_jobs):
    """Return the number of processors for n_jobs as in scikit-learn: None is 1, -1 all, -2 all but one."""
    if n_jobs is None:
        return 1
    if n_jobs == 0:
        raise ValueError("n_jobs is 0; it must be a positive number, a negative number (-1: all processors, -2: all but one), or None")
    every = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return int(n_jobs) if n_jobs > 0 else max(1, every + 1 + int(n_jobs))


def _end(child, said, owner):
    if os.getpid() != owner:  # in a fork, where the child belongs to the original process
        return
    try:
        child.stdin.close()
    except OSError:
        pass
    try:
        child.wait(5)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()
    child.stdout.close()
    said.close()


class Process:
    """A running gorbm-python. It ends when close is called, this object is deleted, or this process ends."""

    def __init__(self, n_jobs=None):
        environment = dict(os.environ, GOMAXPROCS=str(workers(n_jobs)))
        self._said = tempfile.TemporaryFile()
        self._child = subprocess.Popen([program()], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._said, env=environment)
        self._owner = os.getpid()
        self.close = weakref.finalize(self, _end, self._child, self._said, self._owner)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    @property
    def alive(self):
        """Whether requests are possible: the program runs and was started by this process."""
        return self._owner == os.getpid() and self.close.alive and self._child.poll() is None

    def request(self, header, arrays=None, progress=None):
        """Send a request and return header and arrays of the answer.

        progress is called with each report. Ctrl-C asks the program to stop. Its answer then has "stopped" set; if it has no
        answer, KeyboardInterrupt is raised. A second Ctrl-C kills the program.
        """
        answers = queue.SimpleQueue()
        try:
            self._write(header, arrays or {})
            threading.Thread(target=self._read_all, args=(answers,), daemon=True).start()
            stopped = False
            while True:
                try:
                    try:
                        answer = answers.get(timeout=0.2)  # on Windows, Ctrl-C cannot interrupt a wait without timeout
                    except queue.Empty:
                        continue
                    if isinstance(answer, Exception):
                        raise answer
                    if "progress" not in answer[0]:
                        break
                    if progress is not None:
                        progress(answer[0]["progress"])
                except KeyboardInterrupt:
                    if stopped:
                        raise
                    stopped = True
                    self._write({"op": "stop"}, {})
        except BaseException:
            self._child.kill()  # the answer to this request is not needed
            self.close()
            raise
        header, arrays = answer
        if "error" in header:
            if stopped:
                raise KeyboardInterrupt
            raise (ValueError if header["usage"] else TrainingError)(header["error"])
        if stopped:
            header["stopped"] = True
        return header, arrays

    def _write(self, header, arrays):
        arrays = {name: np.ascontiguousarray(a) for name, a in arrays.items()}
        listed = [{"name": name, "type": a.dtype.str, "shape": a.shape} for name, a in arrays.items()]
        text = json.dumps(dict(header, arrays=listed)).encode()
        try:
            self._child.stdin.write(struct.pack("<I", len(text)) + text)
            for a in arrays.values():
                if a.size:
                    self._child.stdin.write(memoryview(a).cast("B"))
            self._child.stdin.flush()
        except OSError:
            raise self._died() from None

    def _died(self):
        status = self._child.wait()
        self._said.seek(0)
        said = self._said.read().decode(errors="replace").strip()
        return TrainingError(f"gorbm-python ended with status {status}" + (": " + said if said else ""))

    def _read_all(self, answers):
        """Put all frames of an answer into a queue, or an exception."""
        try:
            while True:
                header, arrays = self._read()
                answers.put((header, arrays))
                if "progress" not in header:
                    return
        except EOFError:
            answers.put(self._died())
        except Exception as e:  # noqa: BLE001: the waiting thread raises it
            answers.put(e)

    def _read(self):
        header = json.loads(self._exactly(struct.unpack("<I", self._exactly(4))[0]))
        arrays = {}
        for a in header.pop("arrays"):
            kind = np.dtype(a["type"]) if a["type"] in _TYPES else None
            data = self._exactly(kind.itemsize * int(np.prod(a["shape"], dtype=np.int64)))
            arrays[a["name"]] = np.frombuffer(data, kind).reshape(a["shape"])
        return header, arrays

    def _exactly(self, n):
        data = self._child.stdout.read(n)
        if len(data) < n:
            raise EOFError
        return data
