"""Drives prompts through pseudo-terminals: what scripts/bench measures, and what scripts/soak tries."""

import fcntl
import os
import pty
import select
import signal
import struct
import termios
import time


class Prompt:
    """A program on a terminal of its own."""

    def __init__(self, command, environment=None, columns=110, rows=40):
        self.started = time.perf_counter()
        self.seen = b""
        self.sent = 0  # how much had been seen when something was last sent
        self.status = None  # the exit status, negative for a signal, when it has ended
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.environ.update({"TERM": "xterm-256color", "LANG": "C.UTF-8", **(environment or {})})
            os.execvp(command[0], command)
        self.resize(columns, rows)

    def resize(self, columns, rows):
        try:
            fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        except OSError:
            pass

    def read(self, timeout):
        """What came within a time; empty at its end, or when the program has ended."""
        if not select.select([self.fd], [], [], timeout)[0]:
            return b""
        try:
            piece = os.read(self.fd, 65536)
        except OSError:
            return b""
        self.seen += piece
        return piece

    def send(self, data):
        self.sent = len(self.seen)
        while data:
            if not select.select([], [self.fd], [], 0.2)[1]:
                self.read(0)
                continue
            try:
                data = data[os.write(self.fd, data[:512]):]
            except OSError:
                return
            self.read(0)

    def expect(self, wanted, timeout=30.0):
        """Seconds until a text was written after the last thing sent; None if it never was."""
        start = time.perf_counter()
        position = self.sent
        while wanted not in self.seen[position:]:
            left = timeout - (time.perf_counter() - start)
            if left <= 0 or (not self.read(min(left, 0.5)) and not self.is_running()):
                if wanted in self.seen[position:]:
                    break
                return None
        return time.perf_counter() - start

    def settle(self, quiet=0.05):
        """Reads until nothing comes for a while."""
        while self.read(quiet):
            pass

    def is_running(self):
        try:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
        except ChildProcessError:
            return False
        if pid:
            self.status = os.waitstatus_to_exitcode(status)
        return not pid

    def modes(self):
        """The terminal's local modes."""
        return termios.tcgetattr(self.fd)[3]

    def kill(self):
        try:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        except (ProcessLookupError, ChildProcessError):
            pass
        os.close(self.fd)
