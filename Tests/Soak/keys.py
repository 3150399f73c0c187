"""keys.py BINARY [SECONDS [SEED]]: types nonsense at the prompt and sees that it lives and leaves the terminal as it was.

Random bytes, pieces of escape sequences, invalid UTF-8, pastes with and without an end, Tab, Ctrl-C, new sizes.
"""

import os
import random
import sys
import tempfile
import termios
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "scripts", "lib"))
sys.dont_write_bytecode = True
from prompt import Prompt

binary, seconds = sys.argv[1], float(sys.argv[2]) if len(sys.argv) > 2 else 600.0
seed = int(sys.argv[3]) if len(sys.argv) > 3 else int(time.time())
choose = random.Random(seed)
pieces = [
    b"items", b":", b".", b"(", b")", b'"', b"'", b"[", b"]", b"{", b"}", b"local x = ", b"for i = 1, 2 do ", b"end",
    b"\t", b"\t\t", b"\x1b", b"\x1b[", b"\x1b[A", b"\x1b[B", b"\x1b[C", b"\x1b[D", b"\x1bO", b"\x1b[200~", b"\x1b[201~",
    b"\x1b[1;5C", b"\x1b[99999999999999999999;5u", b"\x1b[<0;1;1M", b"\x1b]0;", b"\x07", b"\x1bP", b"\x1b\\", b"\x1b[27;5;",
    b"\xff", b"\xc3", b"\xe2\x82", b"\xf0\x9f\x98\x80", b"\xf0\x9f\x91\xa8\xe2\x80\x8d\xf0\x9f\x91\xa9", b"e\xcc\x81",
    "漢字".encode(), b"\x01", b"\x02", b"\x05", b"\x06", b"\x08", b"\x0b", b"\x0c", b"\x0e", b"\x10", b"\x12", b"\x13",
    b"\x14", b"\x15", b"\x17", b"\x19", b"\x1f", b"\x7f", b"\r", b"\n", b"\x03", b"\x00", b"?", b"print(1)\r", b":help\r", b"q",
    b":his", b"items:query(\"na", b"--[[", b"]]", b"\\", b"=", b" ", b"\xc2\x9b",
]


def harmless(count):
    """Random bytes; Ctrl-D would end the program, Ctrl-Z stop and Ctrl-\\ kill it, as they should."""
    return bytes(b for b in choose.randbytes(count) if b not in (0x04, 0x1A, 0x1C))


def burst():
    kind = choose.random()
    if kind < 0.7:
        return b"".join(choose.choice(pieces) for _ in range(choose.randint(1, 30)))
    if kind < 0.9:
        return harmless(choose.randint(1, 80))
    return b"\x1b[200~" + harmless(choose.randint(0, 2000)) + b"\x1b[201~"


end = time.time() + seconds
sessions = keys = 0
while time.time() < end:
    container = tempfile.mkdtemp()
    program = Prompt([binary, "--container", container], {"HOME": container, "EDITOR": "true"})
    before = program.modes()
    if program.expect(b"leave.") is None:
        sys.exit(f"seed {seed}: the prompt did not come")
    for _ in range(200):
        if time.time() >= end:
            break
        data = burst()
        keys += len(data)
        program.send(data)
        if choose.random() < 0.1:
            program.resize(choose.randint(1, 200), choose.randint(1, 60))
        program.read(0.002)
        if not program.is_running():
            # Nonsense that says :quit is obeyed.
            if program.status == 0:
                break
            program.settle(0.5)
            print(program.seen[-6000:].decode(errors="replace"))
            sys.exit(f"seed {seed}: the program ended ({program.status}) after {keys} bytes; the last were {data!r}")
    if program.status == 0:
        os.close(program.fd)
        continue
    # Out of whatever it is in: a paste, a pager, a search, a block, a question.
    program.resize(100, 30)
    for _ in range(3):
        program.send(b"\x1b[201~")
        program.settle(0.1)
        program.send(b"\x03")
        program.settle(0.1)
    program.send(b"print('ali' .. 've')\r")
    if program.expect(b"alive\r\n", 20) is None:
        print(program.seen[-3000:].decode(errors="replace"))
        sys.exit(f"seed {seed}: the prompt is wedged after {keys} bytes")
    program.settle(0.1)
    program.send(b"\x04")
    start = time.time()
    while program.is_running() and time.time() - start < 20:
        program.read(0.05)
    if time.time() - start >= 20:
        sys.exit(f"seed {seed}: Ctrl-D does not leave")
    after = program.modes()
    if (before ^ after) & (termios.ECHO | termios.ICANON | termios.ISIG):
        sys.exit(f"seed {seed}: the terminal was left in another mode")
    os.close(program.fd)
    sessions += 1
print(f"{keys} bytes typed in {sessions} sessions (seed {seed}): none crashed, none wedged, each terminal as it was")
