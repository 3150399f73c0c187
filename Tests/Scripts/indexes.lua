-- Ordered indexes: made, used by queries on their own, kept through changes, dropped.
for i = 1, 300 do
  items:createItem{ itemKey = string.format("key%03d", i), name = "n" .. i, valueInDollars = i % 30, room = i % 3 == 0 and "Study" or nil }
end
local dear = items:query("valueInDollars >= 28")
print(dear:explain())
-- expect: scan: 300 items examined, 20 match
print(items:createIndex("valueInDollars"), items:createIndex("valueInDollars"), table.concat(items.indexes, " "))
-- expect: true	false	valueInDollars
print(dear:explain())
-- expect: index valueInDollars: 20 items examined, 20 match
print(dear:count(), #dear:all(), dear:first().name, dear:where("name == 'n29'"):count())
-- expect: 20	20	n28	1
local top = items:query():sorted("valueInDollars", "descending"):sorted("itemKey", "descending"):limit(3)
print(top:explain())
-- expect: index valueInDollars: 3 items examined, 300 match; in the index's order by -valueInDollars, -itemKey, the first 3 kept
local function names(query)
  local list = {}
  for _, item in query:each() do list[#list + 1] = item.name end
  return table.concat(list, " ")
end
print(names(top))
-- expect: n299 n269 n239

-- Changes, rollbacks, undo and redo reach it.
items[1].valueInDollars = 1000
print(names(items:query("valueInDollars > 100")))
-- expect: n1
pcall(function()
  items:transaction(function()
    items[2].valueInDollars = 2000
    print(names(items:query("valueInDollars > 100"):sorted("valueInDollars")))
    error("no")
  end)
end)
print(names(items:query("valueInDollars > 100")))
-- expect: n1 n2
-- expect: n1
items:transaction(function() items:removeItem(items[1]) end)
print(names(items:query("valueInDollars > 100")), items:undo(), names(items:query("valueInDollars > 100")))
-- expect: 	true	n1
print(items:redo(), names(items:query("valueInDollars > 100")))
-- expect: true	

-- A custom field, text by its beginning, a list of values, a range.
items:createIndex("room")
items:createIndex("name")
print(items:query("room == 'Study'"):explain())
-- expect: index room: 100 items examined, 100 match
print(items:query("name BEGINSWITH 'n29'"):explain())
-- expect: index name: 11 items examined, 11 match
print(items:query("name IN {'n3', 'n4', 'nobody'}"):explain())
-- expect: index name: 2 items examined, 2 match
print(items:query("valueInDollars BETWEEN {3, 4} AND room != nil"):explain())
-- expect: index valueInDollars: 20 items examined, 10 match
print(items:query("itemKey == 'key007'"):explain())
-- expect: index itemKey: 1 item examined, 1 matches
print(items:dropIndex("name"), items:dropIndex("name"), items:query("name BEGINSWITH 'n29'"):explain())
-- expect: true	false	scan: 299 items examined, 11 match
print(pcall(items.createIndex, items, ""))
-- expect: false	a field's name cannot be empty
