-- Several arguments where they are meant: items, keys, fields, steps; and a surplus one, which is refused.

for i = 1, 6 do
  items:createItem{ name = "n" .. i, month = i % 2 == 0 and "Jan" or nil, airline = i % 3, note = "x" }
end

-- The first items.
print(items:query():first().name, #items:query():first(2), #items:query():first(0), items:query():first(2)[2].name)
-- expect: n1	2	0	n2
print(#items:query():first(99), items:query("name == 'none'"):first(), #items:query("name == 'none'"):first(3))
-- expect: 6	nil	0
print(pcall(function() return items:query():first(-1) end))
-- expect: false	several.lua:12: bad argument #1 'count' to 'Query:first' (a number from 0 expected, got -1)
print(pcall(function() return items:query():first(1.5) end))
-- expect: false	several.lua:14: bad argument #1 'count' to 'Query:first' (integer expected, got 1.5)

-- Groups of several keys.
local groups = items:query():groupBy("month", "airline")
print(#groups, groups[1], groups[2], groups[2].key, groups[2].keys[2], groups[1].key, groups[1].keys[1])
-- expect: 6	nil, 1: 1	Jan, 2: 1	Jan	2	nil	nil
print(groups:group("Jan", 0).count, groups:group(nil, 1).count, groups:group("Feb", 1), groups:group("Jan", 0.0).count)
-- expect: 1	1	nil	1
print(items:query():groupBy("month", nil):group(nil).count, items:query():groupBy("month").Jan.count)
-- expect: 3	3
local shown = {}
for _, group in ipairs(groups:sorted("key")) do shown[#shown + 1] = tostring(group) end
print(table.concat(shown, "; "))
-- expect: nil, 0: 1; nil, 1: 1; nil, 2: 1; Jan, 0: 1; Jan, 1: 1; Jan, 2: 1
local by = items:query():groupBy(function(item) return #item.name end, "month", function(item) return item.airline > 0 end)
print(#by, by[1].keys[1], by[1].keys[2], by[1].keys[3], by[1].count)
-- expect: 4	2	nil	true	2
local rows = groups:sorted("key", "descending"):limit(1):aggregate{ n = "count()" }
print(rows[1].key, rows[1].keys[1], rows[1].keys[2], rows[1].n)
-- expect: Jan	Jan	2	1
print(pcall(function() return groups.Jan end))
-- expect: false	several.lua:35: groups are not indexed by Jan: they have 2 keys; groups:group(…) finds one by all of them
print(pcall(function() return groups:group("Jan") end))
-- expect: false	bad argument #1 'keys' to 'Groups:group' (2 keys expected, as groupBy had; got 1)

-- Both normalization forms are keys of their own.
items:transaction(function()
  items:createItem{ name = "é", month = "é" }
  items:createItem{ name = "e\u{301}", month = "e\u{301}" }
end)
local forms = items:query("month != nil"):groupBy("month", "name")
print(#forms, forms:group("é", "é").items[1].name == "é", forms:group("e\u{301}", "e\u{301}").items[1].name == "e\u{301}")
-- expect: 5	true	true
print(items:query():groupBy("month"):group("e\u{301}").items[1].name == "e\u{301}", forms:group("é", "e\u{301}"))
-- expect: true	nil

-- Distinct combinations.
local found = items:query("airline != nil"):distinct("month", "airline")
print(#found, found[1].month, found[1].airline, found[2].month, found[2].airline)
-- expect: 6	nil	1	Jan	2
print(table.concat(items:query():distinct("airline"), ","), pcall(function() return items:query():distinct("month", "month") end))
-- expect: 1,2,0	false	several.lua:55: bad argument #2 'others' to 'Query:distinct' (the key "month" is given twice)

-- Steps of the history.
print(#items, items:undo(1), #items, items:redo(1), #items, items:redo(3), items:undo(0))
-- expect: 8	1	6	1	8	0	0
print(pcall(items.undo, items, -1))
-- expect: false	bad argument #1 'count' to 'items:undo' (a number from 0 expected, got -1)

-- Several items are removed together, or none.
local removed = {}
local hook = items:on("didChangeMany", function(event) removed[#removed + 1] = "many" end)
items:removeItem(items[8], items[7])
print(#items, #removed)
-- expect: 6	1
print(pcall(items.removeItem, items, items[1], items[2], items[1]))
-- expect: false	item 3 of 3 is given twice: nothing was removed
print(pcall(items.removeItem, items, items[1], "x"))
-- expect: false	bad argument #2 'others' to 'items:removeItem' (Item expected, got string)
print(#items, pcall(items.removeItem, items))
-- expect: 6	false	bad argument #1 'item' to 'items:removeItem' (Item expected, got no value)
hook:off()
local veto = items:on("willRemove", function(event) if event.item.name == "n2" then event:veto("no") end end)
print(select("#", pcall(items.removeItem, items, items[1], items[2])), #items, items[1].name)
-- expect: 2	6	n1
veto:off()

-- null removes a field where a table cannot hold nil.
print(items:query("airline == 1"):update{ note = null, month = "May" }, items[1].note, items[1].month, items[2].note)
-- expect: 2	nil	May	x
print(pcall(function() items:query():update{ name = null } end))
-- expect: false	several.lua:85: name takes a string: nil is not one
print(pcall(function() items[1].note = null end))
-- expect: false	several.lua:87: note cannot hold null: assign nil to remove the field

-- Surplus arguments.
print(pcall(function() items:moveItem(1, 2, 3) end))
-- expect: false	several.lua:91: items:moveItem takes 2 arguments, got 3: items:moveItem(from, to); if the last one is a call, it passes all its results: put it in parentheses to pass the first
print(pcall(function() return items:query():count(1) end))
-- expect: false	several.lua:93: Query:count takes no arguments, got 1
print(pcall(function() return groups:limit(1, 2) end))
-- expect: false	several.lua:95: groups:limit takes 1 argument, got 2: groups:limit(count); if the last one is a call, it passes all its results: put it in parentheses to pass the first
print(pcall(function() return fs.exists(("a"):gsub("a", "b")) end))
-- expect: false	several.lua:97: fs.exists takes 1 argument, got 2: fs.exists(path); if gsub gives the last one, its second result is a number: put the call in parentheses
print(fs.exists((("a"):gsub("a", "b"))), items:query():count(nil), date(0, nil))
-- expect: false	6	1970-01-01 00:00:00 +0000
print((("ab"):gsub("(%a)(%a)", fs.exists)), tostring(1, 2), math.max(1, 2, 3), os.time({ year = 2000, month = 1, day = 1 }, 1) > 0)
-- expect: ab	1	3	true
