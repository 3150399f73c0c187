"""prompt_bench.py BINARY CSV: start to prompt against others, key echo, completion; with the museum's items."""

import os
import statistics
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from prompt import Prompt

binary, csv = sys.argv[1:3]
container = tempfile.mkdtemp()
environment = {"CUBBY_CONTAINER": container, "IPYTHONDIR": container + "-ipython"}
load = """for row in csv.rows(arg[1]) do
  items:createItem{ name = row.title, serialNumber = row.accession_number, department = row.department }
end"""
subprocess.run([binary, "-e", load, csv], env={**os.environ, **environment}, check=True, stderr=subprocess.DEVNULL)


def start(command, prompt):
    """Milliseconds from the start of a process to its prompt."""
    program = Prompt(command, environment)
    seconds = program.expect(prompt)
    total = (time.perf_counter() - program.started) * 1000
    program.kill()
    return total if seconds is not None else None


peers = [("cubby", [binary], b"Ctrl-D to leave.\r\n"), ("lua5.4 -i", ["lua5.4", "-i"], b"> ")]
if subprocess.run(["sh", "-c", "command -v ipython >/dev/null && ipython --version"], capture_output=True).returncode == 0:
    peers.append(("ipython", ["ipython", "--no-banner", "--simple-prompt"], b"In [1]:"))
times = {name: [] for name, _, _ in peers}
for round in range(11):  # in turn, so that all see the same minutes
    for name, command, prompt in peers:
        if name == "ipython" and round > 4:
            continue
        times[name].append(start(command, prompt))
medians = {name: statistics.median(t for t in all[1:] if t is not None) for name, all in times.items()}
items = subprocess.run([binary, "--read-only", "-e", "io.write(#items)"], env={**os.environ, **environment},
                       capture_output=True, text=True).stdout
for name, median in medians.items():
    ratio = "" if name == "cubby" else f", ratio {medians['cubby'] / median:.2f}"
    print(f"start to prompt, {name}: {median:.1f} ms{ratio}" + (f" with {items} items" if name == "cubby" else ""))

program = Prompt([binary], environment)
program.expect(b"leave.")
program.settle()


def measure(keys, wanted, count, undo):
    """Median and worst milliseconds from a key to what it shows."""
    taken = []
    for _ in range(count):
        start = time.perf_counter()
        program.send(keys)
        if program.expect(wanted, 5) is None:
            return "not shown"
        taken.append((time.perf_counter() - start) * 1000)
        program.settle(0.02)
        program.send(undo)
        # An Escape is told from a sequence by what does not follow it.
        program.settle(0.1)
    return f"median {statistics.median(taken):.2f} ms, worst {max(taken):.2f} ms"


cases = [
    ("completion of an item's members", b"items[1].", b"dateCreated"),
    ("completion through a query", b"items:query():first().", b"dateCreated"),
    ("completion of item keys", b'items:item("', b"of 200"),
    ("completion of values in a predicate", b"items:query(\"department == '", b"Photography"),
    ("completion of all globals", b"i", b"items"),
]
for name, text, wanted in cases:
    program.send(text)
    program.settle()
    print(f"{name}: " + measure(b"\t", wanted, 15, b"\x1b"))
    program.settle(0.1)
    program.send(b"\x15")
    program.settle()

block = "\n".join(f"  local value{n} = items[{n}] and 'text {n}' .. ({n} * 2) -- line {n}" for n in range(1, 199))
program.send(("\x1b[200~do\n" + block + "\nend\x1b[201~").encode())
program.settle(0.5)
print("key echo in a block of 200 lines: " + measure(b"q", b"q", 50, b"\x7f"))
program.send(b"\x03")
program.settle()
print("key echo in an empty line: " + measure(b"q", b"q", 50, b"\x7f"))
program.kill()
print(f"load of the machine: {os.getloadavg()[0]:.1f}")
