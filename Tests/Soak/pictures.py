#!/usr/bin/env python3
"""Kills sessions that set pictures, and checks that each picture is the old one or the new one, whole.

pictures.py BINARY [TRIALS [SEED]]

Each trial is one session of pictures.lua, killed with SIGKILL after about 200 pictures, or at a random moment of its
launch. Afterwards every picture is byte for byte the one that was acknowledged last, or announced behind it; every item
has its picture; and of a picture without an item `cubby check` says so.
"""
import os, random, shutil, signal, subprocess, sys, tempfile, time

binary, trials = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 100
seed = int(sys.argv[3]) if len(sys.argv) > 3 else int(time.time())
rng = random.Random(seed)
here = os.path.dirname(os.path.abspath(__file__))
drawings = os.path.join(here, "..", "..", "examples", "data", "pictures")
pictures = [os.path.join(drawings, name) for name in ("teapot.jpg", "lamp.png")]
root = tempfile.mkdtemp(prefix="cubby-pictures-")
container = os.path.join(root, "container")
documents = os.path.join(container, "Documents")
run = [binary, "--container", container]


def read(path):
    with open(path, "rb") as file:
        return file.read()


def fail(message):
    raise SystemExit(f"seed {seed}, in {root}: {message}")


# What each of the two is as a stored picture.
made = subprocess.run(
    run + ["-e", "for i, path in ipairs{...} do assert(images:setImage(assert(image.open(path)), 'made-' .. i)) end"]
    + pictures, capture_output=True, text=True)
if made.returncode != 0:
    fail(made.stderr)
kinds = {read(os.path.join(documents, f"made-{i}")): i for i in (1, 2)}
for i in (1, 2):
    os.remove(os.path.join(documents, f"made-{i}"))

known = {}
total = 0
for trial in range(trials):
    session = subprocess.Popen(
        run + ["run", os.path.join(here, "pictures.lua")] + pictures + [str(rng.randrange(1 << 30))],
        stdout=subprocess.PIPE, text=True)
    # A transaction's picture is acknowledged by whatever is said after it.
    announced = {}
    limit = rng.randrange(1, 400)
    for line in session.stdout:
        words = line.split()
        if words[0] == "will":
            announced[words[1]] = int(words[2])
            known.setdefault(words[1], set())
            known[words[1]].add(int(words[2]))
        elif words[0] == "did":
            known[words[1]] = {int(words[2])}
            total += 1
        limit -= 1
        if limit <= 0:
            break
    time.sleep(rng.random() * 0.01)
    session.send_signal(signal.SIGKILL)
    for line in session.stdout:
        words = line.split()
        if words[0] == "did":
            known[words[1]] = {int(words[2])}
        elif words[0] == "will":
            known.setdefault(words[1], set()).add(int(words[2]))
    session.wait()

    check = subprocess.run(run[:1] + ["check", container], capture_output=True, text=True).stdout
    listed = subprocess.run(
        run + ["-e", "for _, item in items:each() do print(item.itemKey, item.image ~= nil) end"],
        capture_output=True, text=True)
    if listed.returncode != 0:
        fail(f"the store does not open: {listed.stderr}")
    items = dict(line.split("\t") for line in listed.stdout.splitlines())
    for key, has in items.items():
        if has != "true":
            fail(f"item {key} has lost its picture")
    for name in os.listdir(documents):
        if name.startswith("items."):
            continue
        if name.startswith(".cubby-"):
            fail(f"{name} is left over after the next launch")
        if name == "Pictures without items":
            continue
        kind = kinds.get(read(os.path.join(documents, name)))
        if kind is None:
            fail(f"the picture {name} is torn")
        if kind not in known.get(name, ()):
            fail(f"the picture {name} is {kind}, neither what was there nor what came: {known.get(name)}")
        if name not in items and f"the picture {name} has no item" not in check:
            fail(f"the picture {name} has no item, and the check does not say so")
        known[name] = {kind}
shutil.rmtree(root)
print(f"{trials} sessions killed, {total} pictures set: each old or new, none torn, none lost")
