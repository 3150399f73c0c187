-- All or nothing; undo and redo; what a function would change.

local bear = items:createItem{ name = "Bear", valueInDollars = 78 }
local ok, message = pcall(function()
  items:transaction(function()
    bear.valueInDollars = 1000000
    bear.room = "Attic"
    items:createItem{ name = "Ghost" }
    items:removeItem(bear)
    error("that can't be right")
  end)
end)
print(ok, message)
-- expect: false	transactions.lua:10: that can't be right
print(#items, bear.valueInDollars, bear.room, items[1] == bear)
-- expect: 1	78	nil	true

-- The error's own value comes back, whatever it is.
local value = { code = 7 }
print(select(2, pcall(function() items:transaction(function() error(value) end) end)) == value)
-- expect: true

-- Results come through; transactions nest, and an inner one that fails can be survived.
print(items:transaction(function() return 1, "two", nil end))
-- expect: 1	two	nil
items:transaction(function()
  bear.room = "Study"
  pcall(function()
    items:transaction(function()
      bear.room = "Cellar"
      error("inner")
    end)
  end)
  print(bear.room)
end)
-- expect: Study
print(bear.room)
-- expect: Study

print(pcall(function() items:transaction(function() items:saveChanges() end) end))
-- expect: false	transactions.lua:40: saveChanges is not possible inside a transaction: its changes are not committed yet
print(pcall(function() items:transaction(function() app:pressHome() end) end))
-- expect: false	transactions.lua:42: pressHome is not possible inside a transaction: its changes are not committed yet

-- Undo takes back the last commit or transaction.
items:transaction(function() bear.valueInDollars = 1 end)
items:transaction(function() bear.valueInDollars = 2 end)
print(bear.valueInDollars, items:undo(), bear.valueInDollars, items:undo(), bear.valueInDollars)
-- expect: 2	true	1	true	78
print(items:redo(), bear.valueInDollars, items:redo(), bear.valueInDollars, items:redo())
-- expect: true	1	true	2	false
print(items:undo(), bear.valueInDollars)
-- expect: true	1
items:transaction(function() bear.name = "Other" end)
print(items:redo(), bear.name)
-- expect: false	Other

-- A dry run changes nothing, and tells.
local diff = items:dryRun(function()
  items:createItem{ name = "New" }
  bear.valueInDollars = 99
end)
print(#diff.inserted, diff.inserted[1].name, #diff.updated, diff.updated[1].field, diff.updated[1].old, diff.updated[1].new, #diff.removed)
-- expect: 1	New	1	valueInDollars	1	99	0
print(#items, bear.valueInDollars)
-- expect: 1	1
print(pcall(function() items:dryRun(function() bear.valueInDollars = 5; error("no") end) end))
-- expect: false	transactions.lua:67: no
print(bear.valueInDollars)
-- expect: 1
-- A coroutine does not leave a transaction half done.
print(coroutine.wrap(function() return pcall(items.transaction, items, function() bear.valueInDollars = 9 coroutine.yield() end) end)())
-- expect: false	attempt to yield across a C-call boundary (a function that items:transaction, a query, a handler or table.sort calls must end before the coroutine can yield)
print(bear.valueInDollars)
-- expect: 1
-- expect log: Saved all of the Items
