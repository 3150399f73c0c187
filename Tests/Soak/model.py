#!/usr/bin/env python3
"""Runs model.lua again and again on one container, so that it is reopened between the runs.

model.py BINARY [SECONDS [SEED]]
"""
import os, re, shutil, subprocess, sys, tempfile, time

binary, seconds = sys.argv[1], float(sys.argv[2]) if len(sys.argv) > 2 else 600
seed = int(sys.argv[3]) if len(sys.argv) > 3 else int(time.time())
script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "model.lua")
container = tempfile.mkdtemp(prefix="cubby-model-")
end = time.time() + seconds
runs, total = 0, [0, 0, 0, 0, 0]
while time.time() < end:
    left = max(1, min(20, int(end - time.time())))
    run = subprocess.run(
        [binary, "--container", container, "run", script, str(seed + runs), str(left)], capture_output=True, text=True)
    found = re.search(r"(\d+) steps, (\d+) transactions, (\d+) undone, (\d+) saves, (\d+) items: equal", run.stdout)
    if run.returncode != 0 or not found:
        raise SystemExit(f"run {runs} of seed {seed} in {container}:\n{run.stdout}{run.stderr}")
    runs += 1
    total = [a + int(b) for a, b in zip(total, found.groups())]
shutil.rmtree(container)
print(
    f"{runs} runs (seed {seed}, {seconds:.0f} s): {total[0]} steps, {total[1]} transactions, {total[2]} undone, "
    f"{total[3]} saves, {total[4] // max(runs, 1)} items on average; store and model equal throughout")
