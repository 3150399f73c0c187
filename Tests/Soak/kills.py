#!/usr/bin/env python3
"""Kills sessions at random moments and checks that nothing that was acknowledged is lost.

kills.py BINARY [TRIALS [SEED]]

Each trial is one session of kills.lua on a container, killed with SIGKILL; a few trials follow each other on the same
container. Afterwards the store has to be exactly what the model says after the last acknowledged step, or after the
step that was announced behind it: all of it or nothing. The archive has to be one that plistlib reads.
"""
import json, os, plistlib, random, select, shutil, signal, subprocess, sys, tempfile, time

binary, trials = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1000
seed = int(sys.argv[3]) if len(sys.argv) > 3 else int(time.time())
rng = random.Random(seed)
here = os.path.dirname(os.path.abspath(__file__))
root = tempfile.mkdtemp(prefix="cubby-kills-")
dump = """
local fields = { "itemKey", "name", "serialNumber", "valueInDollars", "room", "tags" }
for i = 1, #items do
  local record = {}
  for _, field in ipairs(fields) do record[field] = items[i][field] end
  assert(items:item(items[i].itemKey) == items[i])
  print(json.encode(record))
end
"""


def apply(items, plan):
    items = list(items)
    places = None
    for operation in plan:
        kind = operation[0]
        if kind == "create":
            items.append(dict(operation[1]))
        elif kind == "set":
            position = next(i for i, item in enumerate(items) if item["itemKey"] == operation[1])
            items[position] = dict(items[position], **{operation[2]: operation[3]})
        elif kind == "remove":
            items = [item for item in items if item["itemKey"] != operation[1]]
        elif kind == "move":
            items.insert(operation[2] - 1, items.pop(operation[1] - 1))
    return items


def normal(item):
    result = {key: value for key, value in item.items() if value is not None}
    result.setdefault("name", "")
    result.setdefault("valueInDollars", 0)
    return result


def reopen(container):
    # Beside nobody, as a reader that changes nothing; else as a session that saves at its end.
    mode = ["--read-only"] if rng.random() < 0.6 else []
    run = subprocess.run([binary, "--container", container] + mode + ["-e", dump], capture_output=True)
    if run.returncode != 0:
        raise SystemExit(f"seed {seed}, {container}: the store does not open ({run.returncode}): {run.stderr.decode()}")
    return [json.loads(line) for line in run.stdout.decode().splitlines()], run.stderr.decode()


def session(container, number, acknowledged):
    """Runs and kills one session; gives the states that may be found."""
    large = ["5000"] if rng.random() < 0.1 else []
    # The journal of a commit that waits for the disk has room behind it, in which the next session of either kind goes on.
    durability = "power" if rng.random() < 0.4 else "process"
    process = subprocess.Popen(
        [binary, "--container", container, "--durability", durability, "run", os.path.join(here, "kills.lua"),
         str(seed * 100000 + number)] + large,
        stdout=subprocess.PIPE, stderr=open(container + ".said", "wb"))
    kind = rng.random()
    if kind < 0.15:
        time.sleep(rng.random() * 0.03)
    else:
        # After some output and a moment more, or as soon as a save begins.
        wanted = rng.randrange(1, 60)
        seen = b""
        end = time.time() + 20
        while time.time() < end:
            ready, _, _ = select.select([process.stdout], [], [], 1)
            if ready:
                piece = os.read(process.stdout.fileno(), 1 << 16)
                if not piece:
                    break
                seen += piece
                if seen.count(b"\n") >= wanted or kind < 0.4 and b"saving" in piece:
                    break
        time.sleep(rng.random() ** 3 * 0.02)
    process.send_signal(signal.SIGKILL)
    rest = process.stdout.read()
    status = process.wait()
    if status != -signal.SIGKILL:
        said = open(container + ".said", errors="replace").read()[-2000:]
        raise SystemExit(f"trial {number} of seed {seed}: the session ended by itself with {status}: {said}")
    output = (seen if kind >= 0.15 else b"") + rest
    lines = output.split(b"\n")[:-1]
    state, pending = acknowledged, None
    steps = saves = 0
    for line in lines:
        word, _, value = line.partition(b" ")
        if word == b"step":
            pending = apply(state, json.loads(value))
        elif word == b"ack":
            state, pending = pending, None
            steps += 1
        elif word == b"saving":
            saves += 1
    return state, pending, steps, saves


started = time.time()
steps = saves = in_flight = archives = mapped = notices = 0
container, state, left = None, [], 0
for number in range(trials):
    if left == 0:
        if container:
            shutil.rmtree(container)
        container, state, left = os.path.join(root, str(number)), [], rng.randrange(3, 15)
    left -= 1
    before, pending, done, begun = session(container, number, state)
    steps += done
    saves += begun
    if not os.path.isdir(os.path.join(container, "Documents")):
        continue
    archive = os.path.join(container, "Documents", "items.archive")
    if os.path.exists(archive):
        with open(archive, "rb") as file:
            plist = plistlib.load(file)
        assert plist["$archiver"] == "NSKeyedArchiver" and "root" in plist["$top"]
        archives += 1
        mapped += os.path.exists(os.path.join(container, "Library/Caches/items.index"))
    found, said = reopen(container)
    notices += said.count("items.journal.")
    found = [normal(item) for item in found]
    candidates = [[normal(item) for item in before]]
    if pending is not None:
        candidates.append([normal(item) for item in pending])
    if found not in candidates:
        print(f"trial {number} of seed {seed}: {container} is not what it should be", file=sys.stderr)
        for candidate in candidates:
            for index, (is_there, should) in enumerate(zip(found, candidate)):
                if is_there != should:
                    print(f"  item {index + 1}: {is_there}\n  expected {should}", file=sys.stderr)
                    break
            print(f"  {len(found)} items, {len(candidate)} expected", file=sys.stderr)
        raise SystemExit(1)
    in_flight += pending is not None and found == candidates[1] and candidates[0] != candidates[1]
    state = pending if found == candidates[-1] and pending is not None else before
shutil.rmtree(root)
print(
    f"{trials} sessions killed (seed {seed}): {steps} acknowledged steps, none lost; {in_flight} steps in flight were kept "
    f"whole; {archives} archives read by plistlib, {mapped} of them with an index; {notices} torn tails kept aside; "
    f"{time.time() - started:.0f} s")
