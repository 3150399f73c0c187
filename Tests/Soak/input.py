#!/usr/bin/env python3
"""Functions of the host with huge input: how long after its time limit each is stopped, and how much memory it takes.

input.py BINARY [--short]
"""
import struct, sys, zlib

import limits

MB = 1 << 20


def sparse(size):
    return lambda file: file.truncate(size)


def rows(count):
    def write(file):
        file.write(b"name,valueInDollars\n")
        for start in range(0, count, 1000):
            file.write(b"".join(b"Lamp %d,%d\n" % (n, n) for n in range(start, start + 1000)))
    return write


def records(count):
    return lambda file: file.write(
        b"[" + b",".join(b'{"name":"Lamp %d","k%d":%d}' % (n, n, n) for n in range(count)) + b"]")


def xml(count):
    return lambda file: file.write(
        b'<plist version="1.0"><array>' + b"".join(b"<dict><key>name</key><string>L%d</string></dict>" % n for n in range(count))
        + b"</array></plist>")


def picture(side):
    """A grey PNG of one colour."""
    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
    packer = zlib.compressobj(1)
    data = b"".join(packer.compress(bytes(side + 1)) for _ in range(side)) + packer.flush()
    return lambda file: file.write(
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", side, side, 8, 0, 0, 0, 0)) + chunk(b"IDAT", data)
        + chunk(b"IEND", b""))


trial = limits.begin(sys.argv)
scale = 10 if trial.is_short else 1
trial.file("sparse", sparse(1000 * MB))
trial.file("sparse.csv", sparse(2048 * MB))
trial.file("rows.csv", rows(3_000_000 // scale))
trial.file("records.json", records(1_000_000 // scale))
trial.file("records.plist", xml(1_000_000 // scale))
trial.file("large.png", picture(16000 // (scale // 5 or 1)))

FILL = "for i = 1, 200000 do items:createItem{ name = 'Lamp ' .. i, valueInDollars = i } end "
NUMBERS = "local t = {} for i = 1, 2000000 do t[i] = i end "
KEYS = "local t = {} for i = 1, 500000 do t['k' .. i] = i end "

cases = [
    # Time: one call that takes long, or one after the other.
    ("fs.read", "while true do fs.read(folder .. '/sparse') end"),
    ("fs.write", "local s = ('x'):rep(3e7) while true do fs.write(app.container.tmp .. '/a', s) end"),
    ("fs.list", "while true do fs.list(app.container.path) end"),
    ("csv.rows, a sparse file", "for row in csv.rows(folder .. '/sparse.csv') do end"),
    ("csv.rows", "for row in csv.rows(folder .. '/rows.csv') do end"),
    ("csv.write", "local t = {} for i = 1, 300000 do t[i] = { i, i } end csv.write(app.container.tmp .. '/a.csv', t)"),
    ("items:import, CSV", "items:import(folder .. '/rows.csv')"),
    ("items:import, JSON", "items:import(folder .. '/records.json')"),
    ("items:import, property list", "items:import(folder .. '/records.plist')"),
    ("items:export", FILL + "while true do items:export(app.container.tmp .. '/a.json') end"),
    ("plist.read", "plist.read(folder .. '/records.plist')"),
    ("json.decode", "json.decode(assert(fs.read(folder .. '/records.json')))"),
    ("json.decode, one string", "json.decode('\"' .. ('x'):rep(1e8) .. '\"')"),
    ("json.decode, brackets", "json.decode('[' .. ('[],'):rep(1e7) .. '1]')"),
    ("json.encode, numbers", NUMBERS + "while true do json.encode(t) end"),
    ("json.encode, keys", KEYS + "while true do json.encode(t) end"),
    ("json.encode, one string", "local s = ('x'):rep(1e8) while true do json.encode(s) end"),
    ("plist.encode", NUMBERS + "while true do plist.encode(t) end"),
    ("plist.encode, XML", NUMBERS + "while true do plist.encode(t, { format = 'xml' }) end"),
    ("archiver", NUMBERS + "while true do archiver.open(archiver.archivedData(t)):json() end"),
    ("defaults:set", NUMBERS + "while true do defaults:set('k', t) end"),
    ("item.field =", NUMBERS + "local item = items:createItem{ name = 'a' } while true do item.tags = t end"),
    ("query, sorted", FILL + "while true do items:query():sorted('name'):all() end"),
    ("query, matches", FILL + "while true do items:query(\"name MATCHES '.*(a|b|c).*7.*'\"):count() end"),
    ("predicate on a long text",
     "local i = items:createItem{ name = ('ab '):rep(5e6) } local q = items:query(\"name MATCHES '(a|b| )*x'\") while true do q:count() end"),
    ("query:groupBy", FILL + "while true do items:query():groupBy('name') end"),
    ("query:update", FILL + "while true do items:query():update{ valueInDollars = 1 } end"),
    ("image.open", "while true do image.open(folder .. '/large.png') end"),
    ("image:resized", "local i = assert(image.open(folder .. '/large.png')) while true do i:resized(9000, 9000):pngData() end"),
    ("data", "local s = ('x'):rep(1e7) while true do local d = data(s) d:base64() end"),
    ("timer.sleep in a coroutine", "coroutine.wrap(function() timer.sleep(30) end)()"),
    ("timer.sleep in a coroutine, caught", "coroutine.wrap(function() while true do pcall(timer.sleep, 30) end end)()"),
    ("timer.sleep in a sort", "table.sort({ 3, 2, 1 }, function(a, b) timer.sleep(10) return a < b end)"),
    ("app:run in a coroutine", "coroutine.wrap(function() app:run() end)()"),
    ("sqlite, a query", "local db = sqlite.open(app.container.tmp .. '/a.sqlite') "
     "for row in db:rows('with recursive n(i) as (select 1 union all select i + 1 from n) select i from n') do end"),
    # Memory: what the host holds for the script.
    ("memory: rows of SQLite", "local t, db = {}, sqlite.open(app.container.tmp .. '/a.sqlite') "
     "for i = 1, 100 do t[i] = db:rows('select hex(zeroblob(5000000)) as a')().a end"),
    ("memory: blobs of SQLite", "local t, db = {}, sqlite.open(app.container.tmp .. '/a.sqlite') "
     "for i = 1, 100 do t[i] = db:rows('select randomblob(10000000) as a')().a end"),
    ("memory: values within SQLite", "local db = sqlite.open(app.container.tmp .. '/a.sqlite') "
     "for row in db:rows('select ' .. ('hex(zeroblob(5000000)),'):rep(200) .. '1') do end"),
    ("memory: a statement of SQLite",
     "local db = sqlite.open(app.container.tmp .. '/a.sqlite') db:rows('select ' .. ('(1),'):rep(2e6) .. '1')"),
    ("memory: items of 20 MB", "for i = 1, 100 do items:createItem{ name = ('x'):rep(2e7) .. i } end"),
    ("memory: one field, again and again",
     "local i = items:createItem{ name = 'a' } for k = 1, 100 do i.notes = ('x'):rep(2e7) .. k end"),
    ("memory: many small items", "for i = 1, 5000000 do items:createItem{ name = 'Lamp ' .. i } end"),
    ("memory: data", "local t, s = {}, ('x'):rep(2e7) for i = 1, 100 do t[i] = data(s) end"),
    ("memory: data in a field", "for i = 1, 100 do items:createItem{ name = 'a', d = data(('x'):rep(2e7)) } end"),
    ("memory: predicates", "local t = {} for i = 1, 100 do t[i] = predicate('name == $x', { x = ('x'):rep(2e7) .. i }) end"),
    ("memory: many predicates", "local t = {} for i = 1, 1000000 do t[i] = predicate('name == \"' .. i .. '\"') end"),
    ("memory: defaults", "for i = 1, 100 do defaults:set('k' .. i, ('x'):rep(2e7)) end"),
    ("memory: notifications",
     "for i = 1, 100 do local s = ('x'):rep(2e7) .. i notifications:addObserver(s, function() end) end"),
    ("memory: timers", "for i = 1, 1000000 do timer.after(1000, function() end) end"),
    ("memory: pictures",
     "local t = {} for i = 1, 100 do t[i] = assert(image.open(folder .. '/large.png')):resized(3000 + i, 3000) end"),
    ("memory: graphs",
     "local d, t = archiver.archivedData(NUMBERS()), {} for i = 1, 100 do t[i] = archiver.open(d) end"),
    ("memory: undo", "for k = 1, 100 do items:transaction(function() for i = 1, 10 do items:createItem{ name = ('x'):rep(2e6) } end items:query():remove() end) end"),
    ("memory: fs.read", "local t = {} for i = 1, 10 do t[i] = fs.read(folder .. '/sparse') end"),
    ("memory: uncaught in pcall", "while true do pcall(function() local t = {} while true do t[#t + 1] = data(('x'):rep(1e7)) end end) end"),
]
prelude = "local folder = ... local function NUMBERS() local t = {} for i = 1, 100000 do t[i] = 'n' .. i end return t end "
if trial.is_short:
    kept = ("fs.read", "csv.rows, a sparse file", "json.encode, keys", "plist.encode", "query, sorted", "image.open",
            "timer.sleep in a coroutine, caught")
    kept += tuple("memory: " + name for name in (
        "items of 20 MB", "data", "predicates", "defaults", "undo", "pictures"))
    cases = [case for case in cases if case[0] in kept]
trial.run([(name, prelude + script) for name, script in cases])
trial.end()
