-- Texts of many combining marks, wherever a script may give one: Swift's own comparison of two takes seconds each.
local marks = "e" .. ("\u{301}\u{316}"):rep(20000)
local other = marks .. "b"

-- Keys of JSON, property lists, archives and preferences.
local decoded = json.decode(json.encode({ [marks] = 1, [other] = 2 }))
print(decoded[marks], decoded[other])
-- expect: 1	2
decoded = plist.decode(plist.encode({ [marks] = { [other] = 3 } }))
print(decoded[marks][other])
-- expect: 3
local graph = archiver.open(archiver.archivedData({ [marks] = 4, [other] = 5 }))
print(#graph:json() > 160000)
-- expect: true
defaults:set(marks, 6)
print(defaults:get(marks), defaults:get(other))
-- expect: 6	nil

-- Fields, predicates, groups.
local item = items:createItem{ name = marks, [marks] = 1 }
items:createItem{ name = other, [other] = { [marks] = 2 } }
print(item[marks], item[other], items:query("name ==[c] $x", { x = marks }):count())
-- expect: 1	nil	1
print(#items:query():groupBy("name"), #items:query():distinct("name"), items:query():sorted("name"):first() == item)
-- expect: 2	2	true
print(items:query(marks .. " == 1") ~= nil, (pcall(function() return items:query():sum(other .. "x") end)))
-- expect: true	false
item[marks] = nil

-- Files of others.
local path = app.container.tmp .. "/marks"
csv.write(path .. ".csv", { { name = "a", [marks] = 1, [other] = 2 } })
for row in csv.rows(path .. ".csv") do print(row[marks], row[other]) end
-- expect: 1	2
print(items:import(path .. ".csv") ~= nil)
-- expect: true
-- expect log: other columns are text
fs.write(path .. ".json", json.encode({ { name = "b", [marks] = 1, [other] = { [marks] = 2 } } }))
print(items:import(path .. ".json") ~= nil, items:export(path .. ".jsonl") ~= nil)
-- expect: true	true

-- Names that the host does not have.
for _, f in ipairs{
  function() return require(marks) end, function() return timer.at("1:00", marks, print) end,
  function() return date(0):format("yyyy", marks) end, function() return date.parse(marks, "yyyy") end,
  function() return image.open(marks) end, function() return fs.read(marks) end,
  function() return app:on(marks, print) end, function() return items:createIndex(marks) end,
  function() return archiver.decimal(marks) end, function() return sqlite.open(marks) end,
  function() return items:import(path .. ".csv", { map = { [other] = marks } }) end,
  function() return load("return " .. marks, marks) end, function() error(marks) end,
  function() return items[marks] end, function() return date(0)[marks] end,
} do
  pcall(f)
end
app:emit("user." .. marks)
notifications:post(marks, { [marks] = other })
log.debug(marks)
print("done")
-- expect: done
