"""prompt_captures.py BINARY FOLDER [PROMPT…]: types the same forty inputs at four prompts in tmux, saves the screens.
prompt_captures.py BINARY FOLDER screens: types inputs with items, tables and texts at cubby's prompt, in three sizes.

Each input has its own screen and its own session; varying times are replaced. docs/repl.md compares the screens.
"""

import os
import shutil
import sys
import tempfile

from tmux import Tmux, without_times

binary, folder = os.path.abspath(sys.argv[1]), sys.argv[2]
COLUMNS, ROWS = 100, 32
# A name, the input in Lua, and in Python if that differs. ^C is the key, sent after the code has started; ^D and ^P are
# keys; a line that ends with ^I is completed and not entered.
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
    ("help alone", ["help"], None),
    ("a word for leaving", ["exit"], None),
    ("a call for leaving", ["quit()"], None),
    ("printing a table", ["print({ 1, { two = 2 } })"], ["print([1, {'two': 2}])"]),
    ("an assignment", ["x = 5"], None),
    ("a function", ["function double(n) return 2 * n end", "double"], ["def double(n): return 2 * n", "", "double"]),
    ("help on one's own function", ["function double(n) return 2 * n end", "?double"],
     ["def double(n): return 2 * n", "", "?double"]),
    ("kinds of numbers", ["{ 1 / 3, 2^53, 1e308 * 10, 7 // 2, 3.0 }"], ["[1 / 3, 2**53, 1e308 * 10, 7 // 2, 3.0]"]),
    ("letters of the world", ["{ 'naïve', '日本語', 'שלום' }"], ["['naïve', '日本語', 'שלום']"]),
    ("a text that turns the direction", ["'a\\u{202e}b'"], ["'a\\u202eb'"]),
    ("a name with an escape sequence", ["{ ['\\27[31mred'] = 1 }"], ["{'\\x1b[31mred': 1}"]),
    ("a deep table", ["t = {} for i = 1, 12 do t = { t } end", "t"], ["t = []", "for i in range(12): t = [t]", "", "t"]),
    ("a recursion without end", ["function f() return 1 + f() end", "f()"], ["def f(): return 1 + f()", "", "f()"]),
    ("a comparison of kinds", ["1 < 'a'"], None),
    ("a method that is not there", ["('x'):nope()"], ["'x'.nope()"]),
    ("a string without its end", ["'abc"], None),
    ("an end too many", ["for i = 1, 2 do print(i) end end"], ["for i in range(2)): print(i)"]),
    ("a prompt pasted along", ["> 6 * 7"], [">>> 6 * 7"]),
    ("completing a member", ["string.forma^I"], ["str.forma^I"]),
    ("the entry before", ["40 + 2", "^P", ""], None),
]
# Most screens begin with these items.
ITEMS = ("for i = 1, 60 do items:createItem{ name = 'Lamp ' .. i, room = 'Room ' .. i % 7, weight = i * 13 % 40, "
         "note = ('long note '):rep(i % 9) .. i, itemKey = 'lamp-' .. i } end")
SIZES = [(48, 14), (100, 32), (160, 50)]
SCREENS = [
    ("an item", [ITEMS, "items[8]"]),
    ("a table: the fields of the predicate and the order first", [ITEMS, "items:query('weight > 30'):sorted('room'):limit(4)"]),
    ("chosen columns", [ITEMS, ":columns note name", "items:query():limit(3)"]),
    ("the pager", [ITEMS, "items:query()"]),
    ("a search in the pager", [ITEMS, "items:query()", "/lamp 42"]),
    ("a row of the pager opened", [ITEMS, "items:query()", "/lamp 42", ""]),
    ("an update, and its undo", [ITEMS, "items:query('weight > 30'):update{ room = 'Attic' }", ":undo"]),
    ("an update by a function", [ITEMS, "items:query('weight > 30'):update(function(item) item.room = item.name end)"]),
    ("an update without fields", [ITEMS, "items:query():update{}"]),
    ("an undo of many, asked about", ["for i = 1, 1200 do items:createItem{ name = 'n' .. i } end", ":undo", "n"]),
    ("names with escape sequences and from right to left",
     ["for _, name in ipairs{ 'a\\27[2Jb', 'c\\u{202e}d', 'שלום', '日本語' } do items:createItem{ name = name } end",
      "items:query()"]),
    ("a table of ten thousand columns",
     ["r = {} for i = 1, 10000 do r['f' .. i] = i end", "{ r, { f1 = 1, f2 = 'two' } }"]),
    ("help that is wrapped", ["?items.createItem"]),
    ("the commands", ["help"]),
    ("print of a table", ["print({ name = 'Lamp', rooms = { 'Study', 'Hall' } })"]),
    ("a break", ["function area(w, h)", "local total = w * h", "return total", "end", ":debug local n = area(3, 4) print(n)",
                 ":step", ":next", ":locals", "total * 2", ":where"]),
    ("the states, after Home and back", ["app:pressHome() app:open()", ":states"]),
    ("the archive, and what the last save changed",
     ["lamp = items:createItem{ name = 'Lamp', room = 'Study', itemKey = 'lamp-1', dateCreated = date(0) }",
      "items:saveChanges()", "lamp.room = 'Attic'", "items:saveChanges()", ":inspect items.archivePath"]),
    ("bytes", [":hex 'bplist00' .. ('x'):rep(30)"]),
    ("an error with its place", [ITEMS, "items:query(\"weigth > 3\"):count()"]),
    ("a profile and a benchmark", [":profile timer.sleep(0.3)", ":bench 1 + 1"]),
    ("attached: an item, a table, and an undo",
     [ITEMS, "items[8]", "items:query('weight > 30'):sorted('room'):limit(4)", ":undo"]),
    ("attached: the pager", [ITEMS, "items:query()", "/lamp 42"]),
    ("attached: a profile, and an error with its place", [":profile timer.sleep(0.3)", "x = = 1"]),
]
# A host, and a prompt that is attached to it.
ATTACHED = ("attached", (["sh", "-c", 'cubby=$1; "$cubby" -e "app:run()" >/dev/null 2>&1 & '
                          'until [ -S "$CUBBY_CONTAINER/.socket" ]; do sleep 0.1; done; exec "$cubby" attach --no-color', "sh", binary],
                         r"^attached> $"))
PROMPTS = {
    "cubby": ([binary, "--no-color"], r"^> $"),
    "lua5.4": (["lua5.4", "-i"], r"^> $"),
    "ipython": (["ipython", "--no-banner", "--no-confirm-exit", "--colors=NoColor"], r"In \[1\]: $"),
    "tarantool": (["tarantool"], r"tarantool> $"),
}


def capture(name, lines, columns=COLUMNS, rows=ROWS):
    home = tempfile.mkdtemp()
    try:
        command, prompt = dict([*PROMPTS.items(), ATTACHED])[name]
        tmux = Tmux(command, home, columns, rows, {"PAGER": "" if binary in command else "cat"})
        tmux.settle(prompt)
        tmux.run("send-keys", "C-l")
        tmux.settle(prompt)
        for line in lines:
            tmux.type(line)
            tmux.settle(limit=2.5)
        # A slow entry has no prompt yet; an incomplete one gets none.
        screen = tmux.settle(prompt.replace("1", r"\d+"), limit=8.0)
        tmux.end()
    finally:
        shutil.rmtree(home, ignore_errors=True)
    return "\n".join(line.rstrip() for line in without_times(screen).replace(home, "~").split("\n")).rstrip("\n")


def write(path, head, captures):
    with open(path, "w", encoding="utf-8") as file:
        file.write(head + "\nLines that begin with << were typed, each with Enter but for keys, ^C, and completion, ^I; below is the screen.\n")
        for title, lines, screen in captures:
            typed = "".join(f"<< {line}\n" for line in lines)
            file.write(f"\n== {title}\n{typed}{screen}\n")
            print(f"{path}: {title}")


os.makedirs(folder, exist_ok=True)
if sys.argv[3:] == ["screens"]:
    for columns, rows in SIZES:
        write(f"{folder}/{columns}x{rows}.txt",
              f"The prompt in a terminal of {columns} columns and {rows} rows: scripts/lib/prompt_captures.py.",
              ((title, lines, capture("attached" if title.startswith("attached") else "cubby", lines, columns, rows))
               for title, lines in SCREENS))
    sys.exit()
for name, (command, _) in PROMPTS.items():
    if sys.argv[3:] and name not in sys.argv[3:]:
        continue
    if shutil.which(command[0]) is None:
        print(f"{name} is not installed: its captures stay as they are")
        continue
    both = [(title, python if name == "ipython" and python else lua) for title, lua, python in INPUTS]
    write(f"{folder}/{name}.txt",
          f"Forty inputs typed at {name} in a terminal of {COLUMNS} columns and {ROWS} rows: scripts/lib/prompt_captures.py.",
          ((title, lines, capture(name, lines)) for title, lines in both))
