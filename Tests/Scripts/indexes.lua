-- Ordered indexes: made, used by queries on their own, kept through changes, dropped.
for i = 1, 300 do
  items:createItem{ itemKey = string.format("key%03d", i), name = "n" .. i, valueInDollars = i % 30, room = i % 3 == 0 and "Study" or nil }
end
-- A plan's lines without what differs from run to run, and without the spaces that align its figures.
local function explain(query) print((query:explain():gsub("[%d,.]+ ms", ""):gsub(" +", " "))) end
local dear = items:query("valueInDollars >= 28")
explain(dear)
-- expect: filter valueInDollars >= 28 300 → 20 rows column of integers, 1 thread
-- expect: └ scan of all items 300 rows
print(items:createIndex("valueInDollars"), items:createIndex("valueInDollars"), table.concat(items.indexes, " "))
-- expect: true	false	valueInDollars
explain(dear)
-- expect: index valueInDollars >= 28 20 rows ranks 281 to 300 of 300
print(dear:count(), #dear:all(), dear:first().name, dear:where("name == 'n29'"):count())
-- expect: 20	20	n28	1
local top = items:query():sorted("valueInDollars", "descending"):sorted("itemKey", "descending"):limit(3)
explain(top)
-- expect: limit 3 3 → 3 rows
-- expect: └ index in order of valueInDollars descending, itemKey descending 3 rows ranks 298 to 300 of 300
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
explain(items:query("room == 'Study'"))
-- expect: index room == "Study" 100 rows ranks 1 to 100 of 100
explain(items:query("name BEGINSWITH 'n29'"))
-- expect: index name BEGINSWITH "n29" 11 rows ranks 211 to 221 of 299
explain(items:query("name IN {'n3', 'n4', 'nobody'}"))
-- expect: index name IN {"n3", "n4", "nobody"} 2 rows rank 222 and 1 other range of 299
explain(items:query("valueInDollars BETWEEN {3, 4} AND room != nil"))
-- expect: filter 20 → 10 rows 1 thread
-- expect: ├ valueInDollars BETWEEN {3, 4} 20 → 20 rows column of integers
-- expect: ├ room != nil 20 → 10 rows column of texts, dictionary of 1
-- expect: └ index valueInDollars BETWEEN {3, 4} 20 rows ranks 30 to 49 of 299
explain(items:query("itemKey == 'key007'"))
-- expect: filter itemKey == "key007" 1 → 1 row item by item: keys, 1 thread
-- expect: └ keys: itemKey == "key007" 1 row
print(items:dropIndex("name"), items:dropIndex("name"))
-- expect: true	false
explain(items:query("name BEGINSWITH 'n29'"))
-- expect: filter name BEGINSWITH "n29" 299 → 11 rows column of texts, 1 thread
-- expect: └ scan of all items 299 rows
print(pcall(items.createIndex, items, ""))
-- expect: false	a field's name cannot be empty
