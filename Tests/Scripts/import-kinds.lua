-- Values of another kind than a field had are counted and said, whatever file brings them.
local tmp = app.container.tmp .. "/"
local function short(report) return (tostring(report):gsub(tmp:gsub("%p", "%%%0"), "")) end

fs.write(tmp .. "a.json", '[{"sku":"A","n":5,"when":1},{"sku":"B","n":2.5},{"sku":"C","n":7}]')
assert(items:import(tmp .. "a.json", { key = "sku", map = { sku = "name" } }) == nil)
local options = { key = "name", update = true, map = { sku = "name" } }
assert(items:import(tmp .. "a.json", options) == 3)
fs.write(tmp .. "b.json", '[{"sku":"B","n":"n/a"},{"sku":"D","n":true},{"sku":"E","n":"x","when":2}]')
local count, report = assert(items:import(tmp .. "b.json", options))
print(report.formerKinds, short(report))
-- expect: 1	2 created, 1 updated, 0 unchanged, 0 rejected
-- expect: n: 2 of 5 values are texts ("n/a"), 1 of 5 values is a boolean (true); it was real
print(select(2, items:import(tmp .. "b.json", options)).formerKinds)
-- expect: 0

-- All of them changed; whole numbers that become others are numbers as before.
fs.write(tmp .. "c.jsonl", '{"sku":"A","when":"today"}\n{"sku":"E","when":"tomorrow"}\n')
print(short(select(2, items:import(tmp .. "c.jsonl", options))))
-- expect: 0 created, 2 updated, 0 unchanged, 0 rejected
-- expect: when: 2 of 2 values are texts ("today"); it was integer
fs.write(tmp .. "d.json", '[{"sku":"A","m":1}]')
assert(items:import(tmp .. "d.json", options))
fs.write(tmp .. "d.json", '[{"sku":"A","m":1.5}]')
print(short(select(2, items:import(tmp .. "d.json", options))))
-- expect: 0 created, 1 updated, 0 unchanged, 0 rejected

-- A new field of several kinds.
fs.write(tmp .. "e.json", '[{"sku":"F","x":1},{"sku":"G","x":"one"},{"sku":"H","x":[1]},{"sku":"I","x":2}]')
count, report = assert(items:import(tmp .. "e.json", options))
print(report.mixedKinds, short(report))
-- expect: 1	4 created, 0 updated, 0 unchanged, 0 rejected
-- expect: x: 2 numbers (1), 1 text ("one"), 1 array ([1]): values of several kinds, which comparisons and sums leave out

-- A database.
local db = assert(sqlite.open(tmp .. "f.sqlite"))
db:execute("create table t(sku, q)")
db:execute("insert into t values('J', 'none'), ('K', 3)")
db:close()
assert(items:query():remove() == 9)
fs.write(tmp .. "a.csv", "name,q\nA,1\n")
assert(items:import(tmp .. "a.csv") == 1)
-- expect log: a.csv: q integer; other columns are text
print(short(select(2, items:import(tmp .. "f.sqlite", options))))
-- expect: 2 created, 0 updated, 0 unchanged, 0 rejected
-- expect: q: 1 of 3 values is a text ("none"); it was integer

-- Reals that a whole number is not are refused by name, from texts and from numbers.
assert(items:declare{ mass = "real" })
for _, text in ipairs{ "9007199254740993", "-9007199254740993", "9007199254740992", "123456789012345678901234567890" } do
  fs.write(tmp .. "g.csv", "name,mass\nA," .. text .. "\n")
  fs.write(tmp .. "g.json", '[{"name":"A","mass":' .. text .. '}]')
  for _, file in ipairs{ "g.csv", "g.json" } do
    local done, failure = items:import(tmp .. file, { dryRun = true })
    print(done or short(failure))
  end
end
-- expect: g.csv, row 2: mass takes a real, and none is 9007199254740993 exactly: a field that is not declared as a real has all digits by types = { ["mass"] = "number" }
-- expect: g.json, row 1: mass takes a real, and none is 9007199254740993 exactly: a field that is not declared as a real has all digits by types = { ["mass"] = "number" }
-- expect: g.csv, row 2: mass takes a real, and none is -9007199254740993 exactly: a field that is not declared as a real has all digits by types = { ["mass"] = "number" }
-- expect: g.json, row 1: mass takes a real, and none is -9007199254740993 exactly: a field that is not declared as a real has all digits by types = { ["mass"] = "number" }
-- expect: 1
-- expect: 1
-- expect: g.csv, row 2: mass takes a real, and none is 123456789012345678901234567890 exactly: a field that is not declared as a real has all digits by types = { ["mass"] = "number" }
-- expect: g.json, row 1: mass takes a real, and none is 123456789012345678901234567890 exactly: a field that is not declared as a real has all digits by types = { ["mass"] = "number" }

-- A row's line is the one on which it begins, also of a row of several lines.
fs.write(tmp .. "h.csv", 'name,mass\n"two\nlines",1\n"three\n\nlines",x\nB,y\n')
items:import(tmp .. "h.csv", { onError = function(row, line) print(line) return "skip" end })
-- expect: 4
-- expect: 7
