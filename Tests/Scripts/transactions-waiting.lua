-- A transaction that waits has the changes of its own code alone: what timers do meanwhile comes after it, and stays.
timer.after(0.01, function()
  items:transaction(function() items:createItem{ name = "order 17" } end)
  print("the order is committed")
end)
print(pcall(items.transaction, items, function()
  timer.sleep(0.1)
  print("waited", #items)
  error("other work failed", 0)
end))
-- expect: waited	0
-- expect: false	other work failed
print(#items)
-- expect: 0
timer.sleep(0.05)
-- expect: the order is committed
print(#items, items[1].name)
-- expect: 1	order 17

-- A dry run likewise, and one within a transaction.
timer.after(0.01, function() items:createItem{ name = "order 18" } end)
items:transaction(function()
  print(#items:dryRun(function() timer.sleep(0.1) end).inserted, #items)
  timer.sleep(0.05)
  print(#items)
end)
-- expect: 0	1
-- expect: 1
timer.sleep(0.05)
print(#items)
-- expect: 2

-- The changes of a query likewise, whose handlers and function wait.
local watching = items:on("willUpdate", function() timer.sleep(0.05) end)
timer.after(0.01, function() items:createItem{ name = "order 19" } end)
print(pcall(function()
  items:query():update(function(item)
    item.valueInDollars = 5
    if item.name == "order 18" then error("no", 0) end
  end)
end))
print(#items)
-- expect: false	no
-- expect: 2
watching:off()
timer.sleep(0.05)
print(items:query():distinct("name")[3], items[1].valueInDollars)
-- expect: order 19	0
