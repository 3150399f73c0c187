"""stacks.py BINARY SOURCES [-v]: what a call at the prompt crosses, by gdb on a debug build: the frames from the
program's main function to a place, the files that they are in, and the pure forwards among them, functions whose body is
one call. -v lists the frames, forwards with a star."""

import os
import re
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../scripts/lib"))
from prompt import Prompt

binary, sources = os.path.realpath(sys.argv[1]), os.path.realpath(sys.argv[2])
verbose = sys.argv[3:] == ["-v"]

# What is typed, and where the count begins: functions of the C library, or what the mangled name of Swift's has.
ROWS = [
    ("create at the prompt to `pwrite`", b"items:createItem{ name = \"Lamp\" }\r", ["pwrite64"]),
    ("a query with filter, sort and limit to its rows",
     b"items:query(\"valueInDollars > 10\"):sorted(\"name\"):limit(2):all()\r", ["10ItemSorterV6finish"]),
    ("Ctrl-Z to `rename`", b"\x1a", ["rename", "renameat", "renameat2"]),
]
READY = b"> "


def breakpoints(places, pid):
    """The places as gdb takes them in a process."""
    if not places[0][0].isdigit():
        return places
    names = subprocess.run(["nm", "--defined-only", binary], capture_output=True, text=True, check=True).stdout
    address, name = min(((line.split()[0], line.split()[2]) for line in names.splitlines() if places[0] in line),
                        key=lambda found: len(found[1]))
    with open(f"/proc/{pid}/maps") as maps:
        base = next(line for line in maps if line.rstrip().endswith(binary)).split("-")[0]
    return [f"*0x{int(base, 16) + int(address, 16):x}"]


def stack(folder, typed, places):
    """File, line and function of each frame, the innermost first; main is the last."""
    program = Prompt([binary], {"NO_COLOR": "1", "CUBBY_CONTAINER": folder + "/container", "HOME": folder})
    program.expect(READY)
    program.settle(0.5)
    if b"createItem" not in typed:
        program.send(b"for i = 1, 9 do items:createItem{ name = \"Lamp \" .. i, valueInDollars = i * 9 } end\r")
        program.settle(0.5)
    commands = ["set pagination off", "set width 0", "set print frame-arguments none", "set print thread-events off",
                "set breakpoint pending on", "handle all nostop noprint pass"]
    commands += [f"break {place}" for place in breakpoints(places, program.pid)]
    commands += ["shell touch " + folder + "/ready", "continue", "backtrace", "kill"]
    arguments = [part for command in commands for part in ("-ex", command)]
    with tempfile.TemporaryFile("w+") as output:
        debugger = subprocess.Popen(["gdb", "-nx", "-q", "-batch", "-p", str(program.pid), *arguments],
                                    stdout=output, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
        while debugger.poll() is None and not os.path.exists(folder + "/ready"):
            program.read(0.1)
        program.read(0.5)
        program.send(typed)
        end = time.monotonic() + 60
        while debugger.poll() is None and time.monotonic() < end:
            program.read(0.1)
        debugger.kill()
        debugger.wait()
        output.seek(0)
        text = output.read()
    program.kill()
    frames = re.findall(r"^#\d+ +(?:0x[0-9a-f]+ in )?(\S+) .*?(?: at (\S+):(\d+)| from (\S+))?$", text, re.M)
    if not frames:
        sys.exit(f"{places}: not reached\n" + "\n".join(line for line in text.splitlines() if "DWO" not in line))
    names = subprocess.run(["swift", "demangle", "--compact", "--simplified"], capture_output=True, text=True, check=True,
                           input="\n".join(name for name, *_ in frames)).stdout.splitlines()
    return [(file, int(line or 0), name) for (_, file, line, _), name in zip(frames, names)]


def without_texts(source):
    return re.sub(r'"""(?:.*?)"""|"(?:\\.|[^"\\\n])*"|//[^\n]*|/\*.*?\*/',
                  lambda match: re.sub(r'[^\n"]', "_" if match[0][0] == '"' else " ", match[0]), source, flags=re.S)


def body(code, line):
    """The body of the function around a line."""
    heads = r"\b(?:func|init|subscript|get|set|var|deinit)\b|^\w[^;{}]*\w\([^;{}]*\)\s*(?=\{)"
    lines = code.split("\n")
    if line > len(lines):  # the build is older than its sources
        return None
    end = len("\n".join(lines[:line]))
    best = None
    for head in re.finditer(heads, code[:end], re.M):
        opening = code.find("{", head.start())
        if opening < 0 or opening > end or "}" in code[head.start():opening]:
            continue
        depth = 0
        for closing in range(opening, len(code)):
            depth += {"{": 1, "}": -1}.get(code[closing], 0)
            if depth == 0:
                break
        if closing >= end - len(lines[line - 1]):
            best = code[opening + 1:closing]
    return best


def is_forward(file, line):
    """Whether a function's body is one call, of which nothing is done but passed on."""
    try:
        with open(file) as source:
            text = body(without_texts(source.read()), line)
    except OSError:
        return False
    statement = " ".join((text or "").split()).removesuffix(";")
    match = re.match(r"(?:return )?(?:try[?!]? )?(?:await )?[\w.?!\[\]<>]*\w(?:<[\w., ]*>)?\((.*)\)$", statement)
    if not match or re.match(r"(?:if|switch|for|while|guard|let|var|do|repeat|defer)\b", statement):
        return False
    # One pair of parentheses, and no code in it.
    depth = 0
    for character in match[1]:
        depth += {"(": 1, ")": -1}.get(character, 0)
        if depth < 0 or character in "{;":
            return False
    return True


print("| call | frames | files | pure forwards |\n| --- | --- | --- | --- |")
for title, typed, places in ROWS:
    with tempfile.TemporaryDirectory() as folder:
        found = stack(folder, typed, places)
    frames = []
    for file, line, name in found:
        place = file[file.rfind("/Sources/") + 1:] if "/Sources/" in file else ""
        # Without those that the compiler has made, and the code of Lua and of the libraries.
        if line and place and not re.match("partial apply|protocol witness|reabstraction|thunk", name):
            frames.append((os.path.join(os.path.dirname(sources), place), line, name))
        if name == "main":
            break
    forwards = [is_forward(file, line) for file, line, _ in frames]
    print(f"| {title} | {len(frames)} | {len({file for file, *_ in frames})} | {sum(forwards)} |", flush=True)
    if verbose:
        for (file, line, name), forward in zip(frames, forwards):
            print(f"    {'*' if forward else ' '} {file[len(sources) + 1:]}:{line} {name[:110]}", file=sys.stderr)
