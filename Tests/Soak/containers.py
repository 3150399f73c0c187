#!/usr/bin/env python3
"""Containers whose every part is a link, a pipe, a device, a socket, a folder or a file where it must not be, and
containers whose parts are exchanged for links while the program is launched: nothing elsewhere is read or changed, nothing
waits, and what cannot be opened is refused with status 65.

containers.py BINARY [ROUNDS]
"""
import hashlib, os, random, shutil, socket, stat, subprocess, sys, tempfile, threading

binary = os.path.abspath(sys.argv[1])
rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 200
base = tempfile.mkdtemp(prefix="cubby-containers-")
foreign, template, box = (os.path.join(base, name) for name in ("foreign", "template", "box"))
environment = {
    "PATH": os.environ["PATH"], "HOME": os.path.join(base, "home"), "MEMORY_PRESSURE_WATCH": "/dev/null", "LANG": "C.UTF-8"}
folders = [
    "Documents", "Library", "Library/Application Support", "Library/Caches", "Library/Preferences", "Library/Scripts",
    "tmp", "Library/Caches/Thumbnails", "Library/Caches/Removed Images", "Library/Caches/Replaced Images"]
files = [
    ".lock", ".socket", "Documents/items.archive", "Documents/items.journal", "Library/Caches/items.index",
    "Library/Preferences/items.plist", "Library/Preferences/cubby.plist",
    "Library/Application Support/restoration.plist", "Library/Application Support/restoration.plist.restoring",
    "Library/Application Support/repl_history", "Library/Scripts/init.lua"]
intruders = [
    "link to a folder", "link to a file", "link to nothing", "link inside", "link to itself", "pipe", "device", "socket",
    "folder", "file"]


def cubby(*arguments):
    try:
        return subprocess.run(
            [binary, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=30,
            env=environment, text=True)
    except subprocess.TimeoutExpired:
        raise SystemExit(f"{arguments} waits in {box}")


def state(folder):
    """Every name beneath a folder, with its kind, permissions, contents and the time of its change."""
    found = {}
    for parent, names, others in os.walk(folder):
        for name in names + others:
            path = os.path.join(parent, name)
            about = os.lstat(path)
            content = hashlib.sha256(open(path, "rb").read()).hexdigest() if stat.S_ISREG(about.st_mode) else ""
            found[path] = (about.st_mode, about.st_size, about.st_mtime_ns, content)
    return found


def put(intruder, path):
    if intruder.startswith("link"):
        os.symlink({
            "link to a folder": foreign, "link to a file": foreign + "/file", "link to nothing": base + "/nowhere",
            "link inside": box + "/kept", "link to itself": path}[intruder], path)
    elif intruder == "pipe":
        os.mkfifo(path)
    elif intruder == "device":
        os.mknod(path, stat.S_IFCHR | 0o600, os.makedev(1, 3))
    elif intruder == "socket":
        server, folder = socket.socket(socket.AF_UNIX), os.getcwd()
        os.chdir(os.path.dirname(path))
        server.bind(os.path.basename(path))
        os.chdir(folder)
        server.close()
    elif intruder == "folder":
        os.mkdir(path)
    else:
        open(path, "w").write("x")


def remove(path):
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path)
    elif os.path.lexists(path):
        os.remove(path)


os.makedirs(foreign + "/below/deeper")
for name in ["file", ".cubby-1-x-1.tmp", "below/file", "below/deeper/.cubby-1-x-2.tmp"]:
    open(f"{foreign}/{name}", "w").write("theirs")
os.mkdir(environment["HOME"])
made = cubby("--container", template, "-e", "items:createItem{ name = 'kept' } items:saveChanges() items[1].name = 'new'")
assert made.returncode == 0, made.stderr
# As of a process that was killed: the next launch looks for what it left.
open(template + "/.lock", "w").write("1 0 nobody\n")
before = state(foreign)
tried = 0

for part in folders + files:
    for intruder in intruders:
        kept = "folder" if part in folders else "socket" if part == ".socket" else "file"
        if intruder == kept or (intruder == "device" and os.geteuid() != 0):
            continue
        for command in [
            ["-e", "print(#items)"], ["--read-only", "-e", "print(#items)"], ["check", box], ["check", box, "--repair"],
            ["backup", base + "/copy"], ["gallery", base + "/page"], ["doctor"], ["attach", "-e", "print(1)"],
            ["restore", "--replace", template],
        ]:
            remove(box)
            shutil.copytree(template, box, symlinks=True)
            path = os.path.join(box, part)
            remove(path)
            put(intruder, path)
            ran = cubby(command[0], "--container", box, *command[1:]) if command[0] in (
                "backup", "gallery", "doctor", "attach", "restore") else cubby(*command) if command[0] == "check" else cubby(
                "--container", box, *command)
            where = f"{part} as {intruder}, {' '.join(command)}: {ran.returncode}, {ran.stdout}{ran.stderr}"
            assert ran.returncode in (0, 65, 74), where
            if "-e" in command and command[0] != "attach":
                writes = part not in (".socket",) or command[0] == "-e"
                wanted = 65 if part != "Library/Scripts/init.lua" and writes else 0
                assert ran.returncode == wanted, where
                assert wanted == 0 or os.path.basename(part) in ran.stderr, where
            assert state(foreign) == before, f"{where}\nchanged what is elsewhere"
            assert not os.path.lexists(base + "/nowhere"), f"{where}\nmade what a link led to"
            for name in ["copy", "page"] + [name for name in os.listdir(base) if "before-restore" in name]:
                remove(os.path.join(base, name))
            tried += 1
    print(f"  {part}: refused, {tried} commands so far")

print(f"{rounds} launches while parts are exchanged for links:")
remove(box)
shutil.copytree(template, box)
stopping = threading.Event()


def exchange():
    aside, link = base + "/aside", base + "/link"
    while not stopping.is_set():
        path = os.path.join(box, random.choice(["tmp", "Documents", "Library/Caches", "Library/Preferences"]))
        try:
            os.rename(path, aside)
            os.symlink(foreign, path)
            os.remove(path)
            os.rename(aside, path)
        except OSError:
            # The program made a folder meanwhile.
            if os.path.lexists(aside):
                remove(path)
                os.rename(aside, path)


thread = threading.Thread(target=exchange)
thread.start()
statuses = {}
try:
    for _ in range(rounds):
        open(box + "/.lock", "w").write("1 0 nobody\n")
        status = cubby("--container", box, "-e", "items:createItem{ name = 'more' } items:saveChanges()").returncode
        statuses[status] = statuses.get(status, 0) + 1
        assert status >= 0, f"a crash: {status}"
        assert state(foreign) == before, "a launch changed what is elsewhere"
finally:
    stopping.set()
    thread.join()
print(f"  by status: {statuses}")
shutil.rmtree(base)
print(f"well: {tried} commands, {rounds} launches")
