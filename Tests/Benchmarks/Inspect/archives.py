"""cubby inspect --json-lines over a folder of archives, beside a loop with plistlib that writes digest and contents; cubby
timeline beside one that writes the dates, sorted.

archives.py PROGRAM [N]: N archives (10000) of ten items each. The best of three runs, in turn.
"""

import datetime
import hashlib
import json
import os
import plistlib
import random
import subprocess
import sys
import tempfile
import time
from plistlib import UID


def archive(number):
    objects = ["$null"]

    def add(value):
        objects.append(value)
        return UID(len(objects) - 1)

    item, array, date = (
        add({"$classname": name, "$classes": [name, "NSObject"]}) for name in ("Item", "NSArray", "NSDate"))
    items = [
        add({
            "$class": item, "name": add(f"thing {number} {random.random()}"), "value": random.randrange(10**6),
            "date": add({"$class": date, "NS.time": random.random() * 1e9}), "key": add(f"{random.getrandbits(64):x}"),
        }) for _ in range(10)]
    root = add({"$class": array, "NS.objects": items})
    return plistlib.dumps(
        {"$version": 100000, "$archiver": "NSKeyedArchiver", "$top": {"root": root}, "$objects": objects},
        fmt=plistlib.FMT_BINARY)


def plain(value):
    return {"$uid": value.data} if isinstance(value, UID) else str(value)


def loop(folder, output):
    for path, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            file = os.path.join(path, name)
            with open(file, "rb") as stream:
                data = stream.read()
            line = {"file": file, "sha256": hashlib.sha256(data).hexdigest(), "top": plistlib.loads(data)}
            output.write(json.dumps(line, default=plain) + "\n")


def dates(folder, output):
    """The dates of all files by time, with the digest of the file and the path within."""
    found = []

    def scan(value, path, file, digest):
        if isinstance(value, dict):
            if isinstance(value.get("NS.time"), float):
                found.append((value["NS.time"], file, path, digest))
            for key, each in value.items():
                scan(each, f"{path}.{key}", file, digest)
        elif isinstance(value, list):
            for place, each in enumerate(value):
                scan(each, f"{path}[{place}]", file, digest)

    for path, _, names in os.walk(folder):
        for name in names:
            file = os.path.join(path, name)
            with open(file, "rb") as stream:
                data = stream.read()
            scan(plistlib.loads(data), "", file, hashlib.sha256(data).hexdigest())
    start = datetime.datetime(2001, 1, 1, tzinfo=datetime.timezone.utc)
    for seconds_since, file, path, digest in sorted(found):
        at = start + datetime.timedelta(seconds=seconds_since)
        output.write(json.dumps({"time": at.isoformat(), "file": file, "sha256": digest, "path": path}) + "\n")


def seconds(function):
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def main():
    program, count = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 10000
    random.seed(7)
    with tempfile.TemporaryDirectory() as folder, open(os.devnull, "w") as nothing:
        size = 0
        for number in range(count):
            place = f"{folder}/{number // 100:03}"
            os.makedirs(place, exist_ok=True)
            data = archive(number)
            size += len(data)
            with open(f"{place}/{number:06}.plist", "wb") as stream:
                stream.write(data)

        def inspect(*options):
            subprocess.run([program, "inspect", folder, *options], stdout=nothing)

        def timeline():
            subprocess.run([program, "timeline", folder, "--format", "jsonl"], stdout=nothing)

        runs = [(
            seconds(lambda: inspect("--json-lines")), seconds(lambda: inspect("--find", "no such text")),
            seconds(lambda: loop(folder, nothing)), seconds(timeline), seconds(lambda: dates(folder, nothing)))
            for _ in range(3)]
        lines, find, python, events, scanned = (min(column) for column in zip(*runs))
        print(f"{count} archives of {size // count} bytes")
        print(f"cubby inspect --json-lines  {lines:6.2f} s  {lines / python:.2f} of plistlib's")
        print(f"cubby inspect --find        {find:6.2f} s  {find / python:.2f}")
        print(f"plistlib, hashlib, json     {python:6.2f} s")
        print(f"cubby timeline              {events:6.2f} s  {events / scanned:.2f} of the dates by plistlib")
        print(f"dates by plistlib           {scanned:6.2f} s")


main()
