"""Counts the user instructions of small Lua workloads in two builds of the program, and prints their ratio.

    instructions.py PROGRAM BASE

Each workload runs with many turns and with none, and the difference counts. Valgrind counts: it needs no access to the
processor's counters.
"""

import os
import re
import subprocess
import sys
import tempfile

WORKLOADS = {
    "loop": "local s = 0 for i = 1, N do s = s + i % 7 end",
    "call": "local function f(a) return a end for i = 1, N do f(i) end",
    "method": "local t = { n = 0 } function t:add(a) self.n = self.n + a end for i = 1, N do t:add(i) end",
    "library": "local floor = math.floor for i = 1, N do floor(i) end",
    "pcall": "local function f(a) return a end for i = 1, N do pcall(f, i) end",
    "pcall error": "for i = 1, N do pcall(error, 'x') end",
    "xpcall": "local function f(a) return a end for i = 1, N do xpcall(f, print, i) end",
    "coroutine": "local c = coroutine.wrap(function() while true do coroutine.yield() end end) for i = 1, N do c() end",
    "host": "local a = app for i = 1, N do local s = a.state end",
    "table": "for i = 1, N do local t = { i, i } end",
    "text": "for i = 1, N do local s = 'a' .. i end",
}
TURNS = 100_000


def instructions(program, workload, turns):
    text = WORKLOADS[workload].replace("N", str(turns))
    with tempfile.TemporaryDirectory() as folder:
        result = subprocess.run(
            ["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null",
             program, "--container", folder + "/c", "-e", text],
            capture_output=True, text=True)
    found = re.search(r"I\s+refs:\s+([\d,]+)", result.stderr)
    if result.returncode or not found:
        sys.exit(result.stderr)
    return int(found.group(1).replace(",", ""))


def stripped(program, folder):
    """A copy without symbols, which valgrind can load."""
    copy = os.path.join(folder, "cubby" + str(len(os.listdir(folder))))
    subprocess.run(["strip", "-o", copy, program], check=True)
    return copy


def cost(program, workload):
    return (instructions(program, workload, TURNS) - instructions(program, workload, 0)) / TURNS


def main():
    with tempfile.TemporaryDirectory() as folder:
        program, base = (stripped(path, folder) for path in sys.argv[1:3])
        print(f"{'workload':12} {'instructions':>12} {'to base':>8}")
        for workload in WORKLOADS:
            now, before = cost(program, workload), cost(base, workload)
            print(f"{workload:12} {now:12.1f} {now / before:8.3f}", flush=True)


main()
