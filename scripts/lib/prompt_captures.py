"""prompt_captures.py BINARY FOLDER [PROMPT…]: types the same twenty inputs at four prompts in tmux and keeps what the screens show.

Each input has a screen of its own, in a session of its own; the times that vary are replaced. docs/repl.md compares them.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

binary, folder = os.path.abspath(sys.argv[1]), sys.argv[2]
COLUMNS, ROWS = 100, 32
# A name, what is typed in Lua, and in Python where that differs. ^C is the key, after what runs has begun.
INPUTS = [
    ("a value", ["6 * 7"], None),
    ("a value after =", ["=6 * 7"], None),
    ("a local, and its value", ["local x = 5", "x"], ["x = 5", "x"]),
    ("a block", ["for i = 1, 2 do", "print(i)", "end"], ["for i in range(1, 3):", "print(i)", ""]),
    ("several values", ["1, 'a', nil"], ["1, 'a', None"]),
    ("a syntax error", ["x = = 1"], None),
    ("a field of nothing", ["nope.field"], None),
    ("a misspelt function", ["string.fromat('x')"], ["'x'.fromat()"]),
    ("a table that holds itself", ["t = {} t.t = t", "t"], ["t = []; t.append(t)", "t"]),
    ("a nested table", ["{ 1, 'two', { three = 3 } }"], ["[1, 'two', {'three': 3}]"]),
    ("a text with control characters", ["'a\\nb\\27'"], ["'a\\nb\\x1b'"]),
    ("the last value", ["6 * 7", "_ + 1"], None),
    ("an error that is a table", ["error({ code = 7 })", "_err"], ["raise ValueError({'code': 7})"]),
    ("an error two calls deep", ["function f() error('deep') end", "function g() f() return 1 end", "g()"],
     ["def f(): raise ValueError('deep')", "", "def g(): f()", "", "g()"]),
    ("many records", ["{ { a = 1, b = 'x' }, { a = 22, b = 'yy' } }"], ["[{'a': 1, 'b': 'x'}, {'a': 22, 'b': 'yy'}]"]),
    ("a long table", ["t = {} for i = 1, 1000 do t[i] = i end", "t"], ["t = list(range(1, 1001))", "t"]),
    ("help on a function", ["help(string.format)"], ["help(str.format)", "q"]),
    ("a question", ["?string.format"], ["?str.format"]),
    ("clearing a block", ["for i = 1, 2 do", "^C", "6 * 7"], ["for i in range(1, 3):", "^C", "6 * 7"]),
    ("stopping what runs", ["kept = 42 print('busy') while true do pcall(function() while true do end end) end", "^C", "kept"],
     ["kept = 42", "while True: pass", "", "^C", "kept"]),
]
PROMPTS = {
    "cubby": ([binary, "--no-color"], r"^> $"),
    "lua5.4": (["lua5.4", "-i"], r"^> $"),
    "ipython": (["ipython", "--no-banner", "--no-confirm-exit", "--colors=NoColor"], r"In \[1\]: $"),
    "tarantool": (["tarantool"], r"tarantool> $"),
}


class Tmux:
    """A window of a server of its own."""

    count = 0

    def __init__(self, command, home):
        # A server that was told to end is not gone at once.
        Tmux.count += 1
        self.socket = f"captures-{os.getpid()}-{Tmux.count}"
        environment = {"HOME": home, "IPYTHONDIR": home, "TERM": "screen-256color", "LANG": "C.UTF-8", "PAGER": "cat",
                       "PATH": os.environ["PATH"], "CUBBY_CONTAINER": home + "/container"}
        quoted = " ".join(f"'{part}'" for part in command)
        assignments = " ".join(f"{key}='{value}'" for key, value in environment.items())
        self.run("-f", "/dev/null", "new-session", "-d", "-x", str(COLUMNS), "-y", str(ROWS), "-c", home,
                 f"trap : INT; env -i {assignments} {quoted}; printf '(the process has ended: %s)' $?; sleep 1000")

    def run(self, *arguments):
        return subprocess.run(["tmux", "-L", self.socket, *arguments], check=True, capture_output=True, text=True).stdout

    def screen(self):
        return self.run("capture-pane", "-p").rstrip("\n")

    def settle(self, wanted=None, limit=20.0):
        """The screen when it has not changed for a while, with a pattern in its last line."""
        end, last, since = time.time() + limit, None, time.time()
        while time.time() < end:
            now = self.screen()
            if now != last:
                last, since = now, time.time()
            line = now.split("\n")[-1] + (" " if now and not now.endswith(" ") else "")
            if time.time() - since > 0.35 and (wanted is None or re.search(wanted, line)):
                return now
            time.sleep(0.05)
        return last

    def type(self, text):
        if text == "^C":
            time.sleep(0.7)
            self.run("send-keys", "C-c")
        else:
            if text:
                self.run("send-keys", "-l", "--", text)
            self.run("send-keys", "Enter")

    def end(self):
        self.run("kill-server")


def capture(name, lines):
    home = tempfile.mkdtemp()
    try:
        command, prompt = PROMPTS[name]
        tmux = Tmux(command, home)
        tmux.settle(prompt)
        tmux.run("send-keys", "C-l")
        tmux.settle(prompt)
        for line in lines:
            tmux.type(line)
            tmux.settle(limit=2.5)
        screen = tmux.settle(limit=3.0)
        tmux.end()
    finally:
        shutil.rmtree(home, ignore_errors=True)
    screen = re.sub(r"· [0-9.]+ (µs|ms|s)", "· (time)", screen)
    screen = re.sub(r"0x[0-9a-f]{6,}", "0x(address)", screen)
    return "\n".join(line.rstrip() for line in screen.replace(home, "~").split("\n")).rstrip("\n")


os.makedirs(folder, exist_ok=True)
for name, (command, _) in PROMPTS.items():
    if sys.argv[3:] and name not in sys.argv[3:]:
        continue
    if shutil.which(command[0]) is None:
        print(f"{name} is not installed: its captures stay as they are")
        continue
    with open(f"{folder}/{name}.txt", "w", encoding="utf-8") as file:
        file.write(f"Twenty inputs typed at {name} in a terminal of {COLUMNS} columns and {ROWS} rows: scripts/lib/prompt_captures.py.\n"
                   "Lines that begin with << were typed, each with Enter; below is the screen.\n")
        for title, lua, python in INPUTS:
            lines = python if name == "ipython" and python else lua
            screen = capture(name, lines)
            typed = "".join(f"<< {line}\n" for line in lines)
            file.write(f"\n== {title}\n{typed}{screen}\n")
            print(f"{name}: {title}")
