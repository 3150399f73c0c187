"""prompt_bench.py BINARY CSV: start to prompt against others, key echo, completion, Ctrl-C; with the museum's items. Key
echo, completion and a page of the pager with a million items, beside less."""

import os
import shutil
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
environment = {"CUBBY_CONTAINER": container, "IPYTHONDIR": container + "-ipython", "PAGER": "", "LESS": ""}
load = """for row in csv.rows(arg[1]) do
  items:createItem{ name = row.title, serialNumber = row.accession_number, department = row.department }
end"""
subprocess.run([binary, "-e", load, csv], env={**os.environ, **environment}, check=True, stderr=subprocess.DEVNULL)


def start(command, texts):
    """Milliseconds from the start of a process to its prompt: the last of the texts that it shows one after the other."""
    program = Prompt(command, environment)
    shown = True
    for text in texts:
        shown = shown and program.expect(text) is not None
        program.sent = program.seen.find(text, program.sent) + len(text)
    total = (time.perf_counter() - program.started) * 1000
    program.kill()
    return total if shown else None


peers = [("cubby", [binary], [b"Ctrl-D to leave.\r\n", b"> "]), ("lua5.4 -i", ["lua5.4", "-i"], [b"> "])]
if subprocess.run(["sh", "-c", "command -v ipython >/dev/null && ipython --version"], capture_output=True).returncode == 0:
    peers.append(("ipython", ["ipython", "--no-banner", "--simple-prompt"], [b"In [1]:"]))
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


def measure(program, keys, wanted, count, undo, pause=0.1):
    """Median, 99th percentile and worst milliseconds from a key to what it shows."""
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
        program.settle(pause)
    late = sorted(taken)[max(0, -(-99 * len(taken) // 100) - 1)]
    return f"median {statistics.median(taken):.2f} ms, 99 % within {late:.2f} ms, worst {max(taken):.2f} ms"


def complete(program, cases, label=""):
    for name, text, wanted in cases:
        program.send(text)
        program.settle()
        print(f"{name}{label}: " + measure(program, b"\t", wanted, 15, b"\x1b"))
        program.settle(0.1)
        program.send(b"\x15")
        program.settle()


def echo(program, label=""):
    """Key echo in an empty line and in a call on the items, which is highlighted."""
    for name, text in [("an empty line", b""), ("a query", b"items:query(\"weight > 900\"):first()")]:
        program.send(text)
        program.settle(0.2)
        print(f"key echo in {name}{label}: " + measure(program, b"q", b"q", 300, b"\x7f", 0.01))
        program.send(b"\x03")
        program.settle()


cases = [
    ("completion of an item's members", b"items[1].", b"dateCreated"),
    ("completion through a query", b"items:query():first().", b"dateCreated"),
    ("completion of item keys", b'items:item("', b"of 200"),
    ("completion of values in a predicate", b"items:query(\"department == '", b"Photography"),
    ("completion of all globals", b"i", b"items"),
]
complete(program, cases)

block = "\n".join(f"  local value{n} = items[{n}] and 'text {n}' .. ({n} * 2) -- line {n}" for n in range(1, 199))
program.send(("\x1b[200~do\n" + block + "\nend\x1b[201~").encode())
program.settle(0.5)
print("key echo in a block of 200 lines: " + measure(program, b"q", b"q", 300, b"\x7f", 0.01))
program.send(b"\x03")
program.settle()
echo(program)

# What loops: plainly, in a coroutine of an earlier entry, in pcall, in both, in a handler of xpcall, a generator, a
# pattern, a handler of an event, and a table that the prompt shows.
BUSY = "print('bu' .. 'sy') "
program.send(b"app:on('user.spin', function() print('bu' .. 'sy') while true do end end)\r")
program.settle(0.2)
hostile = [
    ("a loop", BUSY + "while true do end"),
    ("a coroutine made earlier", BUSY + "coroutine.resume(later)"),
    ("pcall in a loop", BUSY + "while true do pcall(function() while true do end end) end"),
    ("pcall in a coroutine in a loop of resumes",
     BUSY + "while true do coroutine.wrap(function() while true do pcall(function() while true do end end) end end)() end"),
    ("nested wraps", BUSY + "local f = function() while true do end end for i = 1, 50 do f = coroutine.wrap(f) end f()"),
    ("a handler of xpcall that loops", BUSY + "while true do xpcall(error, function() while true do end end) end"),
    ("a generator", BUSY + "for x in coroutine.wrap(function() while true do coroutine.yield(1) end end) do end"),
    ("a pattern that explodes", BUSY + "return ('a'):rep(40):find(('a?'):rep(40) .. ('a'):rep(40))"),
    ("a handler of an event", "app:emit('user.spin')"),
    ("a query by a Lua function", BUSY + "return items:query(function() while true do end end):count()"),
    ("a value whose __tostring loops",
     BUSY + "return setmetatable({}, { __tostring = function() while true do end end })"),
]
taken = []
for name, code in hostile:
    for _ in range(3):  # a handler that failed more often would be paused
        # One that was stopped is dead: each trial has its own.
        program.send(b"later = coroutine.create(function() while true do end end)\r")
        program.expect(b"\x1b[?2004h", 5)
        program.settle(0.02)
        program.send(code.encode() + b"\r")
        if program.expect(b"busy\r\n", 10) is None:
            print(f"Ctrl-C: {name} did not begin")
            break
        time.sleep(0.02)
        program.send(b"\x03")
        seconds = program.expect(b"\x1b[?2004h", 20)
        if seconds is None:
            print(f"Ctrl-C: {name} was not stopped")
            break
        taken.append((seconds * 1000, name))
        program.settle(0.02)
late = max(taken)
print(f"Ctrl-C to the next prompt, {len(hostile)} hostile entries, {len(taken)} trials: "
      f"median {statistics.median(each for each, _ in taken):.1f} ms, worst {late[0]:.1f} ms ({late[1]})")
program.send(b"pcall(print, 'ali' .. 've')\r")
print("the session lives on" if program.expect(b"alive\r\n") is not None else "THE SESSION DOES NOT ANSWER")
program.kill()

# A page of a million items: what each key took to show its last row.
text = os.path.join(container, "rows.txt")
million = {**environment, "CUBBY_CONTAINER": container + "-million"}
subprocess.run([binary, "--allow-write", container, "-e", """local file = io.open(arg[1], "w")
for i = 1, 1e6 do
  items:createItem{ name = "Object " .. i, room = "Room " .. i % 97, weight = i * 7 % 1000, note = "a note on " .. i }
  file:write(("%7d  Object %-7d  Room %-2d  a note on %-7d  %3d\\n"):format(i, i, i % 97, i, i * 7 % 1000))
end
file:close()""".replace("arg[1]", repr(text))], env={**os.environ, **million}, check=True, stderr=subprocess.DEVNULL)
pages = [("End", b"G", b"Object 1000000"), ("Home", b"g", b"Object 38"), ("Space", b" ", b"Object 76"),
         ("Page Up", b"b", b"Object 38")]
medians = {}
for name, command in [("cubby", [binary]), ("less", ["less", "-S", text])]:
    program = Prompt(command, million)
    if name == "cubby":
        program.expect(b"leave.")
        program.settle()
        program.send(b"items:query()\r")
        print("a query of a million items to its first page: "
              f"{(program.expect(b'of 1,000,000') or float('nan')) * 1000:.1f} ms")
        program.send(b"q")
        program.settle(0.5)
        complete(program, [
            ("completion of an item's members", b"items[1].", b"dateCreated"),
            ("completion through a query", b"items:query():first().", b"dateCreated"),
            ("completion of item keys", b'items:item("', b"of 200"),
            ("completion of values in a predicate", b"items:query(\"room == '", b"Room 1"),
            ("completion of all globals", b"i", b"items"),
        ], ", a million items")
        echo(program, ", a million items")
        program.send(b"items:query()\r")
        program.expect(b"of 1,000,000")
    program.settle(0.5)
    for key, data, wanted in pages * 10:
        program.send(data)
        seconds = program.expect(wanted, 60)
        medians.setdefault(key, {}).setdefault(name, []).append(seconds * 1000 if seconds is not None else float("nan"))
        program.settle(0.05)
    program.kill()
for folder in (container, million["CUBBY_CONTAINER"]):
    shutil.rmtree(folder, ignore_errors=True)
for key, taken in medians.items():
    ours, theirs = (statistics.median(taken[name]) for name in ("cubby", "less"))
    print(f"the pager, {key} in a million rows: {ours:.2f} ms, worst {max(taken['cubby']):.2f} ms; "
          f"less {theirs:.2f} ms, ratio {ours / theirs:.2f}")
print(f"load of the machine: {os.getloadavg()[0]:.1f}")
