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
