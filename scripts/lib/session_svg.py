"""session_svg.py BINARY FOLDER [NAME…]: types sessions at a shell and at the prompt, in tmux, and draws each last screen.

The README shows the drawings. Nothing in them is written by hand: they have the text of the terminal, with its colours. A half
block is two rectangles, so that pictures have no gaps.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unicodedata
from xml.sax.saxutils import escape

binary, folder = os.path.abspath(sys.argv[1]), sys.argv[2]
root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
COLUMNS = 98
CELL, LINE, FONT = 8.4, 18, 14
GROUND, TEXT = "#16181d", "#d7dae0"
# The ANSI colours, for a program that uses them.
NAMED = ["#3b3f4a", "#e06c75", "#98c379", "#e5c07b", "#61afef", "#c678dd", "#56b6c2", "#d7dae0",
         "#7f848e", "#ef8891", "#b0d893", "#f0d399", "#82c3ff", "#d89aed", "#79cfd9", "#ffffff"]
# The last line of the screen when a step is done.
SHELL, PROMPT, BREAK, PAGER = r"\$ $", r"> $", r":\d+> $", r"q: leave"
IMPORT = ("cubby import examples/data/household.csv --key name", SHELL)
# A title, the rows of the terminal, and the steps: a line that is typed, or a key, and the end of the step.
SESSIONS = {
    "session": ("A first session with Cubby", 60, [
        IMPORT,
        ("cubby", PROMPT),
        ("items:query(\"room == 'Study'\"):sorted('valueInDollars', 'descending'):limit(4)", PROMPT),
        ("items:query(\"rom == 'Study'\"):count()", PROMPT),
        ("lamp = items:query(\"name == 'Reading Lamp'\"):first()", PROMPT),
        ("lamp.image = image.open('examples/data/pictures/lamp.png')", r"\[n\]o: $"),
        ("y", PROMPT),
        ("lamp", PROMPT),
        ("app:on('didEnterBackground', function() print('going away with ' .. #items .. ' items') end)", PROMPT),
        ("^Z", SHELL),
    ]),
    "table": ("A table with pictures", 26, [
        IMPORT,
        ("cubby", PROMPT),
        ("for _, item in items:query('picture != nil'):each() do", r"…"),
        ("item.image = image.open('examples/data/pictures/' .. item.picture)", r"…"),
        ("end", r"\[n\]o: $"),
        ("f", PROMPT),
        ("items:query('picture != nil'):sorted('valueInDollars', 'descending')", PROMPT),
    ]),
    "pager": ("A long table in the pager", 26, [
        IMPORT,
        ("cubby", PROMPT),
        ("items:query('valueInDollars > 20'):sorted('valueInDollars', 'descending')", PAGER),
        ("^N", PAGER), ("^N", PAGER), ("^N", PAGER),
    ]),
    "debugger": ("A break in the debugger", 26, [
        ("cubby", PROMPT),
        ("function discount(order)", r"…"),
        ("local part = order.total * 0.2", r"…"),
        ("return order.total - part", r"…"),
        ("end", PROMPT),
        (":break [1]:2 if order.total > 50", PROMPT),
        ("for _, total in ipairs{ 10, 100 } do print(discount{ total = total }) end", BREAK),
        (":next", BREAK),
        (":locals", BREAK),
        ("part = 50", BREAK),
        (":where", BREAK),
        (":continue", PROMPT),
    ]),
}


class Tmux:
    def __init__(self, home, rows):
        self.socket = f"session-{os.getpid()}-{rows}"
        environment = {
            "HOME": home, "TERM": "xterm-256color", "COLORTERM": "truecolor", "LANG": "C.UTF-8", "PS1": "$ ", "TZ": "UTC",
            "COLORFGBG": "15;0", "PATH": f"{home}/bin:{os.environ['PATH']}", "XDG_DATA_HOME": f"{home}/.local/share",
        }
        assignments = " ".join(f"{key}='{value}'" for key, value in environment.items())
        self.run("-f", "/dev/null", "new-session", "-d", "-x", str(COLUMNS), "-y", str(rows), "-c", f"{home}/cubby",
                 f"env -i {assignments} bash --norc --noprofile -i")

    def run(self, *arguments):
        return subprocess.run(["tmux", "-L", self.socket, *arguments], check=True, capture_output=True, text=True).stdout

    def wait(self, pattern):
        end, last, since = time.time() + 20, None, time.time()
        while time.time() < end:
            now = self.run("capture-pane", "-p").rstrip("\n")
            if now != last:
                last, since = now, time.time()
            # The number of an entry is at the margin of its line; the prompt's trailing blank is cut.
            if time.time() - since > 0.4 and re.search(pattern, now.split("\n")[-1] + " "):
                return
            time.sleep(0.05)
        sys.exit(f"the screen does not end with {pattern}:\n{last}")


def record(rows, steps):
    home = tempfile.mkdtemp()
    try:
        os.makedirs(f"{home}/bin")
        os.symlink(binary, f"{home}/bin/cubby")
        os.makedirs(f"{home}/cubby")
        shutil.copytree(f"{root}/examples", f"{home}/cubby/examples")
        tmux = Tmux(home, rows)
        tmux.wait(SHELL)
        for text, pattern in steps:
            if text[0] == "^":
                tmux.run("send-keys", {"^Z": "C-z", "^N": "Down"}[text])
            else:
                tmux.run("send-keys", "-l", "--", text)
                time.sleep(0.2)
                tmux.run("send-keys", "Enter")
            tmux.wait(pattern)
        screen = tmux.run("capture-pane", "-e", "-p", "-S", "-").rstrip("\n")
        tmux.run("kill-server")
        return screen.replace(home, "~")
    finally:
        shutil.rmtree(home, ignore_errors=True)


class Style:
    def __init__(self):
        self.reset()

    def reset(self):
        self.ink, self.ground, self.bold, self.faint, self.italic, self.line, self.swap = None, None, False, False, False, False, False

    def take(self, parameters):
        codes = [int(code or 0) for code in re.split("[;:]", parameters)]
        while codes:
            code = codes.pop(0)
            if code in (38, 48) and codes:
                kind = codes.pop(0)
                if kind == 2:
                    colour = "#" + "".join(f"{value:02x}" for value in codes[:3])
                    del codes[:3]
                else:
                    colour = palette(codes.pop(0))
                if code == 38:
                    self.ink = colour
                else:
                    self.ground = colour
            elif code == 0:
                self.reset()
            elif code in (1, 2, 3, 4, 7):
                setattr(self, {1: "bold", 2: "faint", 3: "italic", 4: "line", 7: "swap"}[code], True)
            elif code == 22:
                self.bold = self.faint = False
            elif code in (23, 24, 27):
                setattr(self, {23: "italic", 24: "line", 27: "swap"}[code], False)
            elif 30 <= code <= 37 or 90 <= code <= 97:
                self.ink = NAMED[code - 30 if code < 90 else code - 82]
            elif 40 <= code <= 47 or 100 <= code <= 107:
                self.ground = NAMED[code - 40 if code < 100 else code - 92]
            elif code == 39:
                self.ink = None
            elif code == 49:
                self.ground = None

    @property
    def colours(self):
        ink, ground = self.ink or TEXT, self.ground
        return (ground or GROUND, ink) if self.swap else (ink, ground)


def palette(index):
    if index < 16:
        return NAMED[index]
    if index >= 232:
        return "#" + f"{8 + 10 * (index - 232):02x}" * 3
    steps = [0, 95, 135, 175, 215, 255]
    index -= 16
    return f"#{steps[index // 36]:02x}{steps[index // 6 % 6]:02x}{steps[index % 6]:02x}"


def cells(text):
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in text)


def draw(title, screen):
    lines = screen.split("\n")
    width, height = COLUMNS * CELL + 32, len(lines) * LINE + 56
    shapes, texts, style = [], [], Style()
    for row, line in enumerate(lines):
        top = 40 + row * LINE
        column, run, start, key = 0, "", 0, None

        def flush():
            ink, bold, faint, italic, under = key or (None,) * 5
            marks = (' font-weight="bold"' if bold else "") + (' font-style="italic"' if italic else "") + (
                ' opacity="0.6"' if faint else "") + (' text-decoration="underline"' if under else "")
            # Browsers differ in which blanks of a text they draw, so each text begins and ends with a letter, has single
            # blanks alone, and stands at its own column. A line below blanks needs blanks that are drawn.
            words = re.finditer(r".+", run.replace(" ", "\u00a0")) if under else re.finditer(r"\S+(?: \S+)*", run)
            for word in words:
                # textLength keeps the columns with a font of another width.
                texts.append(f'<text x="{16 + (start + cells(run[:word.start()])) * CELL:.1f}" y="{top + 13}" fill="{ink}" '
                             f'textLength="{cells(word[0]) * CELL:.1f}"{marks}>{escape(word[0])}</text>')

        for part in re.split(r"(\x1b\[[0-9;:]*m)", line):
            if part.startswith("\x1b"):
                style.take(part[2:-1])
                continue
            for character in part:
                ink, ground = style.colours
                left = 16 + column * CELL
                if ground:
                    shapes.append((left, top, cells(character) * CELL, LINE, ground))
                if character in "▀▄█":
                    part_top, part_height = {"▀": (top, LINE / 2), "▄": (top + LINE / 2, LINE / 2), "█": (top, LINE)}[character]
                    shapes.append((left, part_top, CELL, part_height, ink))
                    character = " "
                now = (ink, style.bold, style.faint, style.italic, style.line)
                if now != key:
                    flush()
                    run, start, key = "", column, now
                run += character
                column += cells(character)
        flush()
    svg = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height}" viewBox="0 0 {width:.0f} {height}" '
           f'font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, \'DejaVu Sans Mono\', monospace" font-size="{FONT}" '
           'role="img">',
           f"<title>{escape(title)}</title>",
           f'<rect width="100%" height="100%" rx="8" fill="{GROUND}"/>']
    svg += [f'<circle cx="{20 + 18 * index}" cy="18" r="5.5" fill="{colour}"/>' for index, colour in
            enumerate(["#e06c75", "#e5c07b", "#98c379"])]
    # Adjacent rectangles of the same colour are merged.
    merged = []
    for left, top, wide, high, colour in shapes:
        if merged and merged[-1][1] == top and merged[-1][3] == high and merged[-1][4] == colour and abs(
                merged[-1][0] + merged[-1][2] - left) < 0.01:
            merged[-1][2] += wide
        else:
            merged.append([left, top, wide, high, colour])
    svg.append('<g shape-rendering="crispEdges">')
    svg += [f'<rect x="{left:.1f}" y="{top:.0f}" width="{wide:.1f}" height="{high:.0f}" fill="{colour}"/>'
            for left, top, wide, high, colour in merged]
    return "\n".join(svg + ["</g>"] + texts + ["</svg>", ""])


for name, (title, rows, steps) in SESSIONS.items():
    if sys.argv[3:] and name not in sys.argv[3:]:
        continue
    with open(f"{folder}/{name}.svg", "w", encoding="utf-8") as file:
        file.write(draw(title, record(rows, steps)))
