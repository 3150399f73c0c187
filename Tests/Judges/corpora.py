"""Runs the files of public corpora through the program, beside Python's readers: each file is read equal, or refused by an
error that says what is wrong with it. scripts/conformance names the corpora.

corpora.py BINARY json FOLDER    texts named y_…, n_… and i_… have to be read, refused, and either, as JSONTestSuite names them
corpora.py BINARY csv FOLDER     rows as csv.reader reads them
corpora.py BINARY plist FOLDER   property lists of all forms, as plistlib reads them after a conversion

A difference, a crash and a refusal without a reason are failures: status 1.
"""
import csv
import io
import json
import os
import plistlib
import subprocess
import sys
import tempfile

binary, kind, folder = sys.argv[1:4]
scratch = tempfile.TemporaryDirectory()
ENVIRONMENT = dict(os.environ, CUBBY_CONTAINER=f"{scratch.name}/container", TZ="UTC")
# Reads a file by the function of its kind, and writes what came of it as JSON.
SCRIPTS = {
    "json": """local value, message = json.decode(fs.read(arg[1]))
        if value == nil then io.stderr:write(tostring(message)) os.exit(65) end
        io.write(json.encode(value))""",
    "csv": """local rows = {}
        local isFine, message = pcall(function()
          for row in csv.rows(arg[1], { header = false }) do rows[#rows + 1] = row end
        end)
        if not isFine then io.stderr:write(tostring(message)) os.exit(65) end
        io.write(json.encode(rows))""",
}
for name, text in SCRIPTS.items():
    os.makedirs(f"{scratch.name}/scripts", exist_ok=True)
    with open(f"{scratch.name}/scripts/{name}.lua", "w", encoding="utf-8") as file:
        file.write(text)


def call(*arguments):
    """The program's answer: read with these bytes, refused with this reason, or a fault."""
    try:
        run = subprocess.run([binary, *arguments], capture_output=True, env=ENVIRONMENT, timeout=60)
    except subprocess.TimeoutExpired:
        return "fault", "it did not end within 60 s"
    said = run.stderr.decode("utf-8", "backslashreplace").strip()
    if run.returncode == 0:
        return "read", run.stdout
    if run.returncode in (1, 65) and said:
        return "refused", said.split("\n")[0]
    return "fault", f"status {run.returncode}: {said}"


def same(ours, theirs):
    """Equal in kind and value. True and 1 differ everywhere, 1 and 1.0 where the format has two kinds of numbers."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        return ours.keys() == theirs.keys() and all(same(ours[key], theirs[key]) for key in ours)
    if isinstance(ours, (list, tuple)) and isinstance(theirs, (list, tuple)):
        return len(ours) == len(theirs) and all(map(same, ours, theirs))
    if kind == "json" and {type(ours), type(theirs)} == {int, float}:
        return ours == theirs
    return type(ours) is type(theirs) and (ours == theirs or ours != ours and theirs != theirs)


def json_file(path):
    name = os.path.basename(path)
    answer, said = call("run", f"{scratch.name}/scripts/json.lua", path)
    try:
        with open(path, "rb") as file:
            theirs = ("read", json.loads(file.read().decode("utf-8")))
    except (ValueError, RecursionError) as error:
        theirs = ("refused", str(error))
    if answer == "refused":
        return "fault: " + said if name.startswith("y_") else "refused"
    if answer == "fault" or name.startswith("n_"):
        return f"fault: {said[:200]}"
    if theirs[0] == "refused":
        return "read here alone"
    return "equal" if same(json.loads(said), theirs[1]) else f"fault: {said[:200]!r}"


def csv_file(path):
    answer, said = call("run", f"{scratch.name}/scripts/csv.lua", path)
    if answer != "read":
        return "refused" if answer == "refused" else f"fault: {said[:200]}"
    with open(path, "rb") as file:
        text = file.read().decode("utf-8-sig")
    theirs = [row for row in csv.reader(io.StringIO(text, newline=""), strict=True) if row]
    return "equal" if same(json.loads(said or "[]") or [], theirs) else f"fault: {said[:200]!r}"


def plist_file(path):
    target = f"{scratch.name}/out.plist"
    if os.path.exists(target):
        os.remove(target)
    answer, said = call("convert", path, target, "--format", "binary")
    if answer != "read":
        return "refused" if answer == "refused" else f"fault: {said[:200]}"
    try:
        with open(path, "rb") as file:
            theirs = plistlib.load(file)
    except Exception:  # plistlib has no list of what it may raise on damaged files.
        return "read here alone"
    with open(target, "rb") as file:
        return "equal" if same(plistlib.load(file), theirs) else "fault: the values differ"


judge = {"json": json_file, "csv": csv_file, "plist": plist_file}[kind]
counts, faults = {}, []
for parent, _, names in sorted(os.walk(folder)):
    for name in sorted(names):
        if kind != "plist" and not name.endswith("." + kind):
            continue
        path = os.path.join(parent, name)
        outcome = judge(path)
        if outcome.startswith("fault"):
            faults.append(f"{os.path.relpath(path, folder)}: {outcome}")
            outcome = "faults"
        counts[outcome] = counts.get(outcome, 0) + 1
print("\n".join(faults))
print(", ".join(f"{count} {outcome}" for outcome, count in sorted(counts.items())) or "no files")
sys.exit(bool(faults) or not counts)
