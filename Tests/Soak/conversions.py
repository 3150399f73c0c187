#!/usr/bin/env python3
"""Conversions of shared and cyclic structures under limits: each gives a value or an error, in time and in memory.

conversions.py BINARY [--short]
"""
import plistlib, sys
from plistlib import UID

import limits

DAG = "local function dag(n, t) t = t or {} for k = 1, n do t = { t, t } end return t end local t = dag(40) "
NAMED = "local function dag(n) local t = { x = 1 } for k = 1, n do t = { a = t, b = t } end return t end local t = dag(40) "
CYCLE = "local t = { 1, 2 } t[3] = t "
DEEP = "local t = {} for k = 1, 100000 do t = { t } end "
WIDE = "local row = {} for k = 1, 1000 do row[k] = k end local t = {} for k = 1, 100000 do t[k] = row end "


def archive(file):
    """An item whose field holds arrays that hold the one before twice, 40 deep."""
    objects = ["$null"]

    def add(value):
        objects.append(value)
        return UID(len(objects) - 1)

    array = add({"$classes": ["NSArray", "NSObject"], "$classname": "NSArray"})
    dates = add({"$classes": ["NSDate", "NSObject"], "$classname": "NSDate"})
    kind = add({"$classes": ["Item", "NSObject"], "$classname": "Item"})
    tags = add("x")
    for _ in range(40):
        tags = add({"NS.objects": [tags, tags], "$class": array})
    item = add({
        "name": add("Lamp"), "itemKey": add("11111111-2222-4333-8444-555555555555"), "valueInDollars": 3,
        "dateCreated": add({"NS.time": 0.0, "$class": dates}), "tags": tags, "$class": kind})
    root = add({"NS.objects": [item], "$class": array})
    plist = {"$version": 100000, "$archiver": "NSKeyedArchiver", "$top": {"root": root}, "$objects": objects}
    plistlib.dump(plist, file, fmt=plistlib.FMT_BINARY, sort_keys=False)


def plain(file):
    """A property list of the same kind."""
    value = ["x"]
    for _ in range(40):
        value = [value, value]
    # plistlib writes what is held twice twice: the table is made by hand.
    table = [b"\x51x"] + [bytes([0xA2, n, n]) for n in range(40)]
    head, body, offsets = b"bplist00", b"", []
    for piece in table:
        offsets.append(len(head) + len(body))
        body += piece
    start = len(head) + len(body)
    trailer = bytes(6) + bytes([2, 1]) + len(table).to_bytes(8, "big") + (len(table) - 1).to_bytes(8, "big") + start.to_bytes(8, "big")
    file.write(head + body + b"".join(offset.to_bytes(2, "big") for offset in offsets) + trailer)


def consumers(kind, make):
    every = "while true do "
    calls = [
        ("json.encode", "json.encode(t)"), ("plist.encode", "plist.encode(t)"),
        ("plist.encode, XML", "plist.encode(t, { format = 'xml' })"),
        ("plist.write", "plist.write(t, app.container.tmp .. '/a')"),
        ("defaults:set", "defaults:set('k', t)"), ("notifications:post", "notifications:post('n', { info = t })"),
        ("app.restoration", "app.restoration.x = t"), ("createItem", "items:createItem{ name = 'a', tags = t }"),
        ("item.field =", "items:createItem{ name = 'a' }.tags = t"), ("predicate", "predicate('name == $x', { x = t })"),
        ("archiver.archivedData", "archiver.archivedData(t)"), ("query:update", "items:query():update{ tags = t }"),
        ("groupBy", "items:createItem{ name = 'a' } items:query():groupBy(function() return t end)"),
        ("emit", "app:emit('e', t)"), ("csv.write", "csv.write(app.container.tmp .. '/a.csv', { t, t })"),
    ]
    return [(f"{name}, {kind}", f"{make} pcall(function() {call} end)") for name, call in calls]


trial = limits.begin(sys.argv)
trial.file("shared.archive", archive)
trial.file("shared.plist", plain)
cases = []
for kind, make in (("arrays twice in each", DAG), ("dictionaries twice in each", NAMED), ("cyclic", CYCLE), ("100,000 deep", DEEP),
                   ("one row 100,000 times", WIDE)):
    if trial.is_short and kind not in ("arrays twice in each", "cyclic"):
        continue
    cases += consumers(kind, make)
for name, call in [
    ("import of an archive", "items:import(folder .. '/shared.archive')"),
    ("import of a property list", "items:import(folder .. '/shared.plist')"),
    ("plist.read", "plist.read(folder .. '/shared.plist')"),
    ("archiver.open", "local g = assert(archiver.open(folder .. '/shared.archive')) g:dump() g:json() print(g)"),
    ("archiver.unarchiveObject", "archiver.unarchiveObject(folder .. '/shared.archive')"),
]:
    cases.append((name, f"local folder = ... local ok, e = pcall(function() {call} end)"))
trial.run(cases)
trial.end()
