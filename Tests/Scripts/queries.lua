-- Queries: refined, answered, grouped, changed.

local folder = ...
for row in csv.rows(folder .. "/household.csv") do
  items:createItem{
    name = row.name,
    serialNumber = row.serialNumber ~= "" and row.serialNumber or nil,
    valueInDollars = math.tointeger(tonumber(row.valueInDollars)),
    dateCreated = assert(date(row.dateCreated)),
    room = row.room,
  }
end

-- Ways to answer.
local all = items:query()
print(all:count() == #items, #all == #items, #all:all() == #items, all:first() == items[1])
-- expect: true	true	true	true
local dear = items:query("valueInDollars > 400")
local byHand, sum, least, most = 0, 0, math.huge, -math.huge
for _, item in items:each() do
  if item.valueInDollars > 400 then
    byHand = byHand + 1
    sum = sum + item.valueInDollars
    least = math.min(least, item.valueInDollars)
    most = math.max(most, item.valueInDollars)
  end
end
print(dear:count() == byHand, dear:sum("valueInDollars") == sum, dear:min("valueInDollars") == least)
-- expect: true	true	true
print(dear:max("valueInDollars") == most, dear:average("valueInDollars") == sum / byHand)
-- expect: true	true

-- A query is lazy, and is refined without changing.
local narrowed = dear:where("room == 'Kitchen'")
print(narrowed:count() <= dear:count(), dear:count() == byHand)
-- expect: true	true
items:createItem{ name = "Safe", valueInDollars = 5000, room = "Kitchen" }
print(dear:count() == byHand + 1)
-- expect: true
print(items:query("name == $name", { name = "Safe" }):first().valueInDollars)
-- expect: 5000
print(items:query(function(item) return item.name == "Safe" end):count())
-- expect: 1
print(items:query(predicate("name == 'Safe'")):where(function(item) return item.room == "Kitchen" end):count())
-- expect: 1
print(items:query("name == 'nobody'"):first(), items:query("name == 'nobody'"):count())
-- expect: nil	0
print(items:query("name == 'nobody'"):sum("valueInDollars"), items:query("name == 'nobody'"):average("valueInDollars"), items:query("name == 'nobody'"):max("valueInDollars"))
-- expect: 0	nil	nil

items:query():remove()
for _, each in ipairs{ { "b", 1, "x" }, { "a", 2, "y" }, { "c", 2, "x" }, { "d", 3 } } do
  items:createItem{ name = each[1], valueInDollars = each[2], kind = each[3] }
end
local function names(query)
  local list = {}
  for _, item in query:each() do list[#list + 1] = item.name end
  return table.concat(list, " ")
end

-- Order: a second key is lesser; absent values first; strings in byte order.
print(names(items:query():sorted("name")), names(items:query():sorted("name", "descending")))
-- expect: a b c d	d c b a
print(names(items:query():sorted("valueInDollars", "descending"):sorted("name")))
-- expect: d a c b
print(names(items:query():sorted("kind"):sorted("name", "descending")))
-- expect: d c b a
print(names(items:query():sorted("name"):offset(1):limit(2)), names(items:query():limit(0)), names(items:query():offset(9)))
-- expect: b c		

-- Groups, by a field and by a function.
for _, group in ipairs(items:query():groupBy("kind")) do
  print(group.key, group.count, group:sum("valueInDollars"), group:average("valueInDollars"))
end
-- expect: x	2	3	1.5
-- expect: y	1	2	2.0
-- expect: nil	1	3	3.0
for _, group in ipairs(items:query():groupBy(function(item) return item.valueInDollars > 1 end)) do
  print(group.key, group.count, group.items[1].name)
end
-- expect: false	1	b
-- expect: true	3	a
local words = items:query():groupBy(function(item) return item.name:match("^[^ ]*") end)
print(#words, words.a.count, items:query("name.lowercaseString == 'a'"):count())
-- expect: 4	1	1
print(table.concat(items:query("kind != nil"):distinct("kind"), " "))
-- expect: x y

-- Changing many at once.
print(items:query("kind == 'x'"):update{ valueInDollars = 9, kind = "z" }, items:query("kind == 'z'"):sum("valueInDollars"))
-- expect: 2	18
print(items:query("kind == 'z'"):remove(), #items)
-- expect: 2	2
print(type(items:query("name == 'a'"):explain()))
-- expect: string

-- What is refused.
local function refused(body) print((tostring(select(2, pcall(body))):gsub("^[%w%-]+%.lua:%d+: ", ""):match("^[^\n]*"))) end
refused(function() items:query("name ==") end)
-- expect: predicate: a value is missing behind == (column 8)
refused(function() items:query("nam == 'a'"):count() end)
-- expect: predicate: no item has a field nam; did you mean name? (column 1)
refused(function() items:query("name == $who") end)
-- expect: predicate: $who has no value; give it with the predicate (column 9)
refused(function() items:query(7) end)
-- expect: bad argument #1 'predicate' to 'items:query' (string or function or Predicate expected, got number)
refused(function() items:query():limit(-1) end)
-- expect: bad argument #1 'count' to 'Query:limit' (a number from 0 expected, got -1)
refused(function() items:query():sorted("name", "up") end)
-- expect: bad argument #2 'order' to 'Query:sorted' ("ascending" or "descending" expected, got "up")
refused(function() items:query():sorted() end)
-- expect: bad argument #1 'key' to 'Query:sorted' (string or function expected, got no value)
refused(function() items:query(function() error("in the predicate") end):count() end)
-- expect: in the predicate
refused(function() items:query():update{} end)
-- expect: bad argument #1 'change' to 'Query:update' (at least one field expected, got an empty table)
refused(function() items:query():update{ valueInDollars = "no" } end)
-- expect: valueInDollars takes an integer: "no" is not one
refused(function() items:query():wher("TRUEPREDICATE") end)
-- expect: Query has no property or method 'wher'; did you mean 'where'?

-- A function changes its item: all of them, or none.
items:query():remove()
for i = 1, 3 do items:createItem{ name = "n" .. i, valueInDollars = i } end
print(items:query("valueInDollars > 1"):update(function(item) item.valueInDollars = item.valueInDollars * 10 end), items:query():sum("valueInDollars"))
-- expect: 2	51
print(items:query():update(function(item) if item.name == "n2" then item.room = "Study" end end), items:query("room == 'Study'"):count())
-- expect: 1	1
refused(function() items:query():update(function(item) item.name = "x" assert(item.valueInDollars < 30, "too much") end) end)
-- expect: too much
print(items[1].name)
-- expect: n1
