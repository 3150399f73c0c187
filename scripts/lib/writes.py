#!/usr/bin/env python3
"""Every write to a descriptor in the sources has its result used: scripts/test refuses calls that bypass the functions
which see to that, and results that are dropped.

    writes.py FOLDER    checks the sources in a folder: a line for each finding, and status 1 if there is one

All bytes pass cubby_write and its like (Sources/CPlatform/streams.c), whose results the compiler does not let a caller
drop; those for standard output and standard error pass StandardStream (Sources/Files/StandardStream.swift), which
counts what was lost, so that a run ends with status 74. EXCEPTIONS are the places that do otherwise, each with its
reason.
"""

import pathlib
import re
import sys

# C's calls that write, by name; in Swift the names that methods have, too, count with three arguments without labels.
CALLS = (
    "pwrite writev pwritev sendto sendmsg fwrite fputs fputc putc puts putchar fprintf vfprintf printf vprintf dprintf "
    "vdprintf perror fflush fclose fputs_unlocked fwrite_unlocked putc_unlocked fputws fputwc sendfile splice "
    "copy_file_range process_vm_writev").split()
SHARED = ["write", "send"]
IN_C = re.compile(r"(?<![\w.>])(%s)\s*\(" % "|".join(CALLS + SHARED))
IN_SWIFT = re.compile(
    r"(?<![\w.])(?:(?:Glibc|Platform|Musl|Darwin)\.)?(%s)\s*\(|(?<![\w.])(print|debugPrint|dump)\s*\("
    r"|\b(Swift\.print|FileHandle|FileOutputStream|OutputStream)\b" % "|".join(CALLS + SHARED))
DROPPED = re.compile(
    r"(_\s*=\s*(?:\w+\.)*cubby_(?:write|send|flush)\w*|\(void\)\s*(?:cubby_)?f?p?(?:write|send|flush|puts|printf|close)\w*"
    r"|try\?\s*[\w.]+\.(?:write|writeAll|flush|commit|sync)|try\?\s*(?:write|flush))\s*\(")

# Place and call: the reason. An exception that no longer applies is a finding itself.
EXCEPTIONS = {
    ("CPlatform/streams.c", "write"): "the function that all others call",
    ("CPlatform/streams.c", "pwrite"): "the same at an offset",
    ("CPlatform/streams.c", "send"): "the same for a socket",
    ("CPlatform/streams.c", "fflush"): "its result is returned",
    ("CPlatform/mappings.c", "write"): "in a signal handler, which ends the process: nobody is left to be told",
    ("CPlatform/terminal.c", "write"): "in a crash handler: the terminal is given back if it can be",
    ("CLuaShim/Library/base.c", "fputc"): "Lua's print of a state without a host: failures are counted (LuaState.lostOutput)",
    ("CLuaShim/Library/base.c", "fwrite"): "the same",
    ("CLuaShim/Library/base.c", "fflush"): "the same",
    ("CLuaShim/Library/files.c", "fclose"): "its result is the script's, or counted",
    ("CLuaShim/Library/files.c", "fflush"): "its result is that of the file's close, or counted",
    ("CLuaShim/Host/host.c", "fputs"): "the process is out of memory and aborts",
    ("CLuaShim/state.c", "fprintf"): "Lua aborts the process",
    ("Application/Events/EventPoster.swift", "_ = cubby_write_some"): "a full counter wakes the loop as well",
    ("Jupyter/JupyterQueue.swift", "_ = cubby_write_some"): "a full counter wakes the sockets' thread as well",
    ("Application/Service/ContainerSocket.swift", "_ = cubby_send_some"): "as sd_notify: the manager may be gone",
    ("ItemArchive/Journal/ArchiveLoader.swift", "try? file.commit"):
        "an index is a cache, which the next opening makes again",
    ("LineEditor/Terminal/TerminalMode.swift", "_ = cubby_write"): "a terminal that is gone needs no mode",
    ("Scripting/Host/HostFrontEnd.swift", "try? write"): "put: the stream counts the loss",
    ("Scripting/Host/HostFrontEnd.swift", "try? output.flush"): "the stream counts the loss",
}

# Methods of these types are named print.
PRINTERS = ["REPL/", "PredicateFormat/Syntax/PredicatePrinter"]


def without_texts(source, is_swift):
    """The source with comments and the contents of strings blanked, of the same length and lines."""
    if is_swift:
        pattern = r'//[^\n]*|/\*.*?\*/|(#*)"""(?:.*?)"""\1|(#+)"(?:.*?)"\2|"(?:\\.|[^"\\\n])*"'
    else:
        pattern = r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'"
    return re.sub(pattern, lambda match: re.sub(r"[^\n]", " ", match.group()), source, flags=re.S)


def is_kernels(code, place):
    """Whether a call's arguments, from its parenthesis on, are three or more without labels: those of C's function."""
    depth, commas = 0, 0
    for character in code[place:place + 2000]:
        if character in "([{":
            depth += 1
        elif character in ")]}":
            depth -= 1
            if depth == 0:
                break
        elif depth == 1 and character == ":":
            return False
        elif depth == 1 and character == ",":
            commas += 1
    return commas >= 2


def findings(path, source, used):
    """Line, call and text of what is refused."""
    is_swift = path.endswith(".swift")
    code = without_texts(source, is_swift)
    for pattern in (IN_SWIFT if is_swift else IN_C, DROPPED):
        for match in pattern.finditer(code):
            call = re.sub(r"\s+", " ", next(group for group in match.groups() if group))
            start = code.rfind("\n", 0, match.start()) + 1
            before = code[start:match.start()]
            # A declaration, or a method of a type that prints to no stream.
            if re.search(r"\b(func|static|let|var|extern)\s[^=]*$", before) and pattern is not DROPPED and is_swift:
                continue
            if call in SHARED and is_swift and not is_kernels(code, match.end() - 1):
                continue
            # C's functions throw nothing.
            if call in SHARED and is_swift and code[:match.start()].rstrip().endswith("try"):
                continue
            if call == "print" and any(path.startswith(printer) for printer in PRINTERS):
                continue
            if (path, call) in EXCEPTIONS:
                used.add((path, call))
                continue
            line = code.count("\n", 0, match.start()) + 1
            yield line, call, source.splitlines()[line - 1].strip()


def check(folder):
    root, used, count = pathlib.Path(folder), set(), 0
    for file in sorted(root.rglob("*")):
        if file.suffix not in (".swift", ".c", ".h"):
            continue
        path = file.relative_to(root).as_posix()
        for line, call, text in findings(path, file.read_text(), used):
            count += 1
            print(f"{path}:{line}: {call}: the result of a write is to be used, by cubby_write or StandardStream: {text}")
    if (root / "CPlatform/streams.c").exists():
        for path, call in sorted(EXCEPTIONS.keys() - used):
            count += 1
            print(f"{path}: {call} is an exception without a case: remove it from scripts/lib/writes.py")
    return count == 0


if __name__ == "__main__":
    sys.exit(0 if check(sys.argv[1]) else 1)
