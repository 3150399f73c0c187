-- A field of days is one of days wherever its values come out.
local tmp = app.container.tmp .. "/"
assert(items:declare{ bought = { kind = "date", format = "day" } })
local events = {}
items:on("willUpdate", function(event) events[#events + 1] = event.old end)
items:on("didUpdate", function(event) events[#events + 1] = event.new end)
local lamp = items:createItem{ name = "Lamp", bought = date("2024-02-29T17:30:00Z"), seen = date("2024-02-29T17:30:00Z") }
items:createItem{ name = "Bear", bought = date("2024-02-29"), seen = date("2024-02-29") }
lamp.bought = date("2024-03-01")
print(events[1], events[2], events[2]:inZone("America/New_York").day)
-- expect: 2024-02-29	2024-03-01	1

local query = items:query()
print(query:min("bought"), query:max("bought"), query:max("seen"))
-- expect: 2024-02-29	2024-03-01	2024-02-29 17:30:00 +0000
print(query:distinct("bought")[1], query:distinct("bought", "name")[1].bought, query:distinct("seen")[1])
-- expect: 2024-03-01	2024-03-01	2024-02-29 17:30:00 +0000
local groups = query:groupBy("bought")
print(groups[1], groups[1].key, groups[1].keys[1], groups[1]:max("bought"), groups:group(date("2024-02-29")).count)
-- expect: 2024-03-01: 1	2024-03-01	2024-03-01	2024-03-01	1
groups = query:groupBy("name", "bought")
print(groups[1], groups[1].keys[2], groups:aggregate{ last = "max(bought)", seen = "min(seen)" }[1].last)
-- expect: Lamp, 2024-03-01: 1	2024-03-01	2024-03-01
print(query:groupBy("seen")[2], query:groupBy(function(item) return item.seen end)[2].key)
-- expect: 2024-02-29 00:00:00 +0000: 1	2024-02-29 00:00:00 +0000
local diff = items:dryRun(function() lamp.bought = date("2025-01-01") end)
print(diff.updated[1].old, diff.updated[1].new)
-- expect: 2024-03-01	2025-01-01
for _, field in ipairs(items:describe()) do
  if field.field == "bought" then print(field.min, field.max, field.examples[1]) end
end
-- expect: 2024-02-29	2024-03-01	2024-03-01

-- Days have no time in files, whatever writes them.
csv.write(tmp .. "days.csv", { { day = lamp.bought, moment = lamp.seen, plain = date("2024-02-29") } })
print((fs.read(tmp .. "days.csv"):gsub("\r\n", "|")))
-- expect: day,moment,plain|2024-03-01,2024-02-29T17:30:00Z,2024-02-29T00:00:00Z|
local db = assert(sqlite.open(tmp .. "days.sqlite"))
db:execute("create table t(a, b)")
db:execute("insert into t values(?, ?)", { lamp.bought, lamp.seen })
for row in db:rows("select a, b from t") do print(row.a, row.b) end
-- expect: 2024-03-01	2024-02-29T17:30:00Z
db:close()

-- A column of days is one of days, and its field as free as before: nothing is cut, nothing refused.
fs.write(tmp .. "bought.csv", "name,when,checked\nVase,2019-03-02,2020-01-01T00:00:00Z\nRug,2001-04-18,2020-01-01T10:00:00Z\n")
items:import(tmp .. "bought.csv")
local vase = items:query("name == 'Vase'"):first()
print(vase.when, vase.checked, vase.when == date("2019-03-02"))
-- expect log: tmp/bought.csv: when, checked date; other columns are text
-- expect: 2019-03-02	2020-01-01 00:00:00 +0000	true
for _, field in ipairs(items:fields()) do
  if field.field == "when" then print(field.kind, field.format, field.declared, field.misfits) end
end
-- expect: date	day	false	0
vase.when = date("2019-03-02T17:30:00Z")
print(vase.when, sql("select \"when\" d from items where name in ('Vase', 'Rug') order by 1 desc")[1].d)
-- expect: 2019-03-02 17:30:00 +0000	2019-03-02 17:30:00
vase.when = "unknown"
print(vase.when, items:query("name == 'Rug'"):first().when)
-- expect: unknown	2001-04-18
items:undo()
items:undo()
items:undo()
print(#items:query("when != nil"), items:fields()[#items:fields()].field == "when")
-- expect: 0	false
-- A zone does not move a day, in predicates, sums and groups as little as in Lua.
local leap = items:createItem{ name = "Leap", due = date("2024-02-29") }
assert(items:declare{ due = { kind = "date", format = "day" } })
print(leap.due:inZone("America/New_York").day, items:query('inZone(due, "America/New_York").day == 29'):count(),
  items:query("due != nil"):groupBy('inZone(due, "America/New_York").day')[1].key, items:query():max('inZone(due, "America/New_York").day'))
-- expect: 29	1	29	29
