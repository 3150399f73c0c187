#!/usr/bin/env python3
"""Saves and commits on a small disk of its own: full, read-only, and well again. Needs the right to mount (root).

disk.py BINARY
"""
import os, plistlib, subprocess, sys, tempfile

binary = os.path.abspath(sys.argv[1])
if os.geteuid() != 0:
    raise SystemExit("mounting a small disk needs root; the tests try a limit of the file's size instead")
if len(sys.argv) < 3:
    # In a mount namespace of its own, so that nothing is left behind.
    os.execvp("unshare", ["unshare", "-m", sys.executable, os.path.abspath(__file__), binary, "inside"])

disk = tempfile.mkdtemp(prefix="cubby-disk-")
subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", disk], check=True)
container = os.path.join(disk, "box")
archive = os.path.join(container, "Documents/items.archive")
script = r"""
local function answer(...) print(...) io.stdout:flush() end
for line in function() return io.read("l") end do
  local outcome = table.pack(pcall(load(line)))
  for i = 1, outcome.n do outcome[i] = tostring(outcome[i]) end
  answer(table.concat(outcome, " ", 1, outcome.n))
end
"""
path = os.path.join(disk, "answer.lua")
with open(path, "w") as file:
    file.write(script)
process = subprocess.Popen(
    [binary, "--container", container, "run", path], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    stderr=subprocess.DEVNULL, text=True)


def ask(code, *expected):
    process.stdin.write(code + "\n")
    process.stdin.flush()
    answer = process.stdout.readline().strip()
    for part in expected:
        assert part in answer, f"{code}\n  {answer!r} has no {part!r}"
    print(f"  {code}\n    {answer}")
    return answer


def fill():
    with open(os.path.join(disk, "filler"), "wb", buffering=0) as file:
        while True:
            try:
                if file.write(bytes(4096)) < 4096:
                    break
            except OSError:
                break


def names():
    with open(archive, "rb") as file:
        objects = plistlib.load(file)["$objects"]
    return [objects[o["name"].data] for o in objects if isinstance(o, dict) and "name" in o]


ask("for i = 1, 2000 do items:createItem{ name = 'item ' .. i } end return items:saveChanges()", "true true")
before = names()
assert len(before) == 2000
print("The disk is full:")
fill()
ask("items[1].name = 'changed' return items:saveChanges()", "true nil", "No space left on device", "items.")
assert names() == before, "the old archive is not whole"
ask("return items:transaction(function() for i = 1, 2000 do items:createItem{ name = ('x'):rep(200) } end end)",
    "false", "No space left on device")
ask("return #items, items[1].name, items.hasChanges", "true 2000 changed true")
assert not [name for name in os.listdir(container + "/Documents") if name.endswith(".tmp")], "a temporary file is left"
print("It has room again:")
os.remove(os.path.join(disk, "filler"))
ask("items[2].name = 'later' return items:saveChanges()", "true true")
assert names()[:2] == ["changed", "later"]
print("It is read-only:")
documents = container + "/Documents"
subprocess.run(["mount", "--bind", documents, documents], check=True)
subprocess.run(["mount", "-o", "remount,bind,ro", documents], check=True)
ask("items[3].name = 'third' return items:saveChanges()", "true nil", "Read-only file system")
subprocess.run(["umount", documents], check=True)
ask("return items:saveChanges()", "true true")
assert names()[:3] == ["changed", "later", "third"]
process.stdin.close()
assert process.wait() == 0
run = subprocess.run([binary, "--container", container, "-e", "print(#items, items[3].name)"], capture_output=True, text=True)
assert run.stdout == "2000\tthird\n", run
print("A disk that was full and a disk that was read-only: refused with clear errors, nothing lost, saved afterwards.")
