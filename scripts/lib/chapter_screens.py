"""chapter_screens.py BINARY FOLDER: goes through the chapter in tmux from beginning to end, and saves the screens.

First `cubby chapter`: what each step says to try is read from the screen and typed as it stands, with Ctrl-Z and fg in a shell where
the step says so; each has to be noticed, and without a hint that it is not. Before the sixth step the chapter is left, and resumed.
Then the blocks of docs/chapter.md, in one container: those of Lua at the prompt, in which no entry may fail, those of the shell
outside of it. Status 0: all of that came.
"""

import os
import re
import shutil
import sys
import tempfile

from tmux import Tmux, without_times

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
COLUMNS, ROWS = 80, 24
PROMPT, SHELL = r"^> $", r"^\$ $"
# What waits for a line: the prompt, the shell, an entry that is not complete, a question.
READY = r"^(> |\$ |… *|.*\[n\]o: )$"
TITLE = r"(\d+) of (\d+): (.*)"
failures = []


def fail(text):
    failures.append(text)
    print(text, file=sys.stderr)


class Reader:
    """Someone at a terminal with a shell, who keeps each screen."""

    def __init__(self, binary):
        self.home = tempfile.mkdtemp()
        os.symlink(binary, self.home + "/cubby")
        self.tmux = Tmux(["bash", "--norc", "-i"], self.home, COLUMNS, ROWS,
                         {"PATH": self.home + ":" + os.environ["PATH"], "PS1": "$ ", "CUBBY_CONTAINER": "", "NO_COLOR": "1"})
        self.tmux.run("set-option", "-g", "history-limit", "5000")
        self.tmux.settle(SHELL)
        self.screens = []

    def type(self, lines, wanted=PROMPT):
        """Types lines, and returns what is on the screen and above it."""
        self.typed = []
        for line in lines:
            # The prompt indents by itself.
            self.tmux.type(line.lstrip())
            self.typed.append(line)
            screen = self.tmux.settle(SHELL if line == "^Z" else READY, limit=60)
            # A file outside of the sandbox: the reader leaves it closed.
            if screen.endswith("[n]o:"):
                self.tmux.type("n")
                self.typed.append("n")
                self.tmux.settle(READY, limit=60)
        self.tmux.settle(wanted, limit=60)
        return self.history()

    def history(self):
        return self.tmux.run("capture-pane", "-p", "-S", "-300").rstrip("\n")

    def save(self, title, lines):
        screen = without_times(self.tmux.screen()).replace(self.home, "~")
        screen = re.sub(r"[0-9A-F]{8}-[0-9A-F]{4}-[0-9A-F]{4}-[0-9A-F]{4}-[0-9A-F]{12}", "(UUID)", screen)
        self.screens.append((title, lines, "\n".join(line.rstrip() for line in screen.split("\n")).rstrip("\n")))
        print(title)

    def end(self):
        self.tmux.end()
        shutil.rmtree(self.home, ignore_errors=True)


def suggestion(history):
    """The step on the screen, and what it says to try."""
    found = list(re.finditer(TITLE, history))
    if not found:
        return None, []
    text = history[found[-1].start():]
    tries = re.search(r"^Try:\n((?:  .*\n)+)", text + "\n", re.M)
    return found[-1], [line[2:] for line in tries[1].rstrip("\n").split("\n")] if tries else []


def course(reader):
    reader.type(["cubby chapter"])
    reader.save("the beginning", ["cubby chapter"])
    last = 0
    while True:
        title, lines = suggestion(reader.history())
        if title is None or int(title[1]) == last:
            return fail(f"the step after {last} is not on the screen")
        last, count = int(title[1]), int(title[2])
        reader.tmux.run("clear-history")
        if last == 6:
            lines_left = [":quit", "cubby chapter"]
            reader.type(lines_left[:1], SHELL)
            history = reader.type(lines_left[1:])
            reader.save("left and resumed", lines_left)
            if "goes on where it was left" not in history or not re.search(rf"^{last} of {count}", history, re.M):
                fail("the chapter is not resumed where it was left")
        if lines == ["Ctrl-Z, then fg in the shell"]:
            lines = ["^Z", "fg"]
        if lines == [":quit, then cubby chapter in the shell"]:
            lines = [":quit", "cubby chapter"]
            reader.type(lines[:1], SHELL)
            history = reader.type(lines[1:])
        else:
            history = reader.type(lines)
        reader.save(f"{last} of {count}: {title[3]}", lines)
        if ":chapter shows step" in history:
            reader.type([":chapter"])
        if f"✓ {title[3]}" not in history:
            return fail(f"step {last}, {title[3]}, was not noticed")
        if "Not yet." in history:
            fail(f"step {last}, {title[3]}, has a hint for someone who does what it says")
        if last == count:
            if "That was the chapter" not in history:
                fail("the chapter does not end")
            return reader.type([":quit"], SHELL)
        reader.tmux.run("send-keys", "C-l")
        reader.tmux.settle(PROMPT)


def blocks():
    """The blocks of the page: their language and their lines."""
    text = open(ROOT + "/docs/chapter.md", encoding="utf-8").read()
    return [(found[1], found[2].split("\n")) for found in re.finditer(r"^```(lua|console)\n(.*?)\n```", text, re.M | re.S)]


def page(reader):
    reader.type(["export CUBBY_CONTAINER=$HOME/page", "clear", "cubby"])
    at_prompt = True
    for number, (language, lines) in enumerate(blocks(), 1):
        reader.tmux.run("clear-history")
        reader.tmux.run("send-keys", "C-l")
        reader.tmux.settle(PROMPT if at_prompt else SHELL)
        if language == "lua":
            typed = lines if at_prompt else ["cubby", *lines]
            history = reader.type(typed)
            typed = reader.typed
            if re.search(r"^(stdin|\[?\d+\]?):\d+: |^cubby: |assertion failed", history, re.M):
                fail(f"block {number} of the page has an error:\n{history}")
            if any("pressHome" in line for line in lines):
                more = [":states", "^Z", "fg", ":states"]
                if "suspended" not in reader.type(more):
                    fail(f"the way to the background is not drawn\n{reader.history()}")
                typed = typed + more
            at_prompt = True
        else:
            typed = [line[2:] for line in lines if line.startswith("$ ")]
            if at_prompt:
                typed = [":quit", *typed]
            history = reader.type(typed, SHELL)
            for line in lines:
                if not line.startswith("$ ") and line not in history:
                    fail(f"block {number} of the page: no line {line}\n{history}")
            at_prompt = False
        reader.save(f"block {number} of the page", typed)


def main():
    binary, folder = os.path.abspath(sys.argv[1]), sys.argv[2]
    os.makedirs(folder, exist_ok=True)
    screens = []
    for play in (course, page):
        reader = Reader(binary)
        try:
            play(reader)
        finally:
            screens += reader.screens
            reader.end()
    with open(f"{folder}/{COLUMNS}x{ROWS}.txt", "w", encoding="utf-8") as file:
        file.write(f"The chapter in a terminal of {COLUMNS} columns and {ROWS} rows: scripts/lib/chapter_screens.py.\n"
                   "Lines that begin with << were typed, each with Enter but for the key ^Z; below is the screen.\n")
        for title, lines, screen in screens:
            file.write(f"\n== {title}\n" + "".join(f"<< {line}\n" for line in lines) + screen + "\n")
    return 1 if failures else 0


sys.exit(main())
