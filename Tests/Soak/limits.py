"""What the trials of limits share: a function of the host, tried once with a time limit and once with a memory limit.

For each a line is printed: how long after its limit it was stopped, and how many times the limit the process grew by. The
time of a session that does nothing, and its memory, are taken off.
"""
import os, shutil, subprocess, tempfile, threading, time

TIME_LIMIT = 1.0       # seconds
MEMORY_LIMIT = 64      # MB
LATE = 0.25            # seconds beyond the time limit
GROWTH = 3.0           # times the memory limit
# The same where each piece is a third of the limit: the process is measured between pieces, and a piece is copied.
GROWTH_BY_THIRDS = 5.0
GUARD = 120            # seconds after which a session that does not end has hung


class Trial:
    def __init__(self, binary, is_short):
        self.binary = binary
        self.is_short = is_short
        self.folder = tempfile.mkdtemp(prefix="cubby-limits-")
        self.failures = []
        self.session("", [])  # the first one makes the container
        sessions = [self.session("", []) for _ in range(3)]
        self.start = min(seconds for _, seconds, _ in sessions)
        self.base = min(memory for _, _, memory in sessions)

    def session(self, script, options):
        """The end of a script: its last line and status, the seconds, the peak of its memory in MB."""
        path = os.path.join(self.folder, "script.lua")
        with open(path, "w", encoding="latin-1") as file:
            file.write(script)
        container = os.path.join(self.folder, "container")
        begin = time.monotonic()
        process = subprocess.Popen(
            [self.binary, "--container", container, *options, "run", path, self.folder],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        # Its error is told as the script ends; the commit and the save that follow take their own time.
        told = []
        reader = threading.Thread(
            target=lambda: told.extend((time.monotonic(), line) for line in process.stderr), daemon=True)
        reader.start()
        peak = 0
        while process.poll() is None:
            peak = max(peak, peak_of(process.pid))
            time.sleep(0.01)
            if time.monotonic() - begin > GUARD:
                process.kill()
                return ("hangs", GUARD, peak)
        end = time.monotonic()
        reader.join(5)
        errors = b"".join(line for _, line in told)
        end = next((moment for moment, line in told if line.startswith(b"cubby:")), end)
        lines = errors.decode("utf-8", "replace").strip().splitlines() or [""]
        said = next((line for line in reversed(lines) if "cubby:" in line), lines[-1])
        return (f"{process.returncode} {said}", end - begin, peak)

    def lines(self, script):
        """What a script writes to its standard error, without limits."""
        path = os.path.join(self.folder, "script.lua")
        with open(path, "w", encoding="latin-1") as file:
            file.write(script)
        container = os.path.join(self.folder, "container")
        done = subprocess.run(
            [self.binary, "--container", container, "run", path, self.folder], stdin=subprocess.DEVNULL,
            capture_output=True, timeout=GUARD)
        return done.stderr.decode("utf-8", "replace").splitlines()

    def clear(self):
        shutil.rmtree(os.path.join(self.folder, "container"), ignore_errors=True)

    def file(self, name, write):
        path = os.path.join(self.folder, name)
        with open(path, "wb") as file:
            write(file)

    def run(self, cases):
        print(f"time limit {TIME_LIMIT:.0f} s, memory limit {MEMORY_LIMIT} MB; an idle session takes {self.start:.2f} s "
              f"and {self.base:.0f} MB")
        print(f"{'seconds late':>12} {'x memory':>9}  function")
        for name, script in cases:
            self.clear()
            said, seconds, _ = self.session(script, ["--time-limit", f"{TIME_LIMIT}"])
            late = seconds - self.start - TIME_LIMIT
            self.clear()
            # What goes on without an end grows within its first rounds, if it does; the long form waits for more of them.
            rounds = 5 if self.is_short and not name.startswith("memory:") else 20
            told, guard, memory = self.session(
                script, ["--memory-limit", f"{MEMORY_LIMIT}", "--time-limit", f"{rounds}"])
            growth = (memory - self.base) / MEMORY_LIMIT
            marks = []
            # Under the load of other tests only what hangs is a failure of the short form. A trial of memory has the host
            # accept as much as it can: its time is that of the commit, which keeps what was accepted.
            if late > (10 if self.is_short else LATE) and not name.startswith("memory:"):
                marks.append("LATE")
            if growth > (GROWTH_BY_THIRDS if "(2e7)" in script else GROWTH):
                marks.append("TOO MUCH MEMORY")
            for end in (said, told):
                if end.startswith("-") or end == "hangs":
                    marks.append(f"ended {end}")
            print(f"{late:12.2f} {growth:9.2f}  {name}  {' '.join(marks)}", flush=True)
            if not self.is_short:
                print(f"{'':23} {said[:100]} | {told[:100]}", flush=True)
            if marks:
                self.failures.append(f"{name}: {' '.join(marks)}")

    def end(self):
        shutil.rmtree(self.folder, ignore_errors=True)
        if self.failures:
            raise SystemExit("failed:\n" + "\n".join(self.failures))
        print("all within their limits")


def peak_of(pid):
    """The most memory that a process has had, in MB; 0 when it has ended."""
    try:
        with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as file:
            for line in file:
                if line.startswith("VmHWM:"):
                    return int(line.split()[1]) / 1024
    except OSError:
        pass
    return 0


def begin(argv):
    return Trial(argv[1], "--short" in argv[2:])
