-- saveChanges waits, and serves timers meanwhile; what they change is not in the snapshot, and is not lost.
for i = 1, 5000 do items:createItem{ name = "item " .. i } end
local ticks = 0
local ticker = timer.every(0.0005, function()
  ticks = ticks + 1
  if ticks == 1 then items[1].name = "meanwhile" end
end)
print(items:saveChanges(), ticks > 0, items.hasChanges)  -- expect: true	true	true
ticker:cancel()

-- Where a coroutine of the script's own waits, too.
print(coroutine.wrap(function() return items:saveChanges() end)())  -- expect: true
print(items.hasChanges)  -- expect: false

-- Two who save at the same time: the second waits for a save that has its change.
local done = 0
timer.after(0, function()
  items[2].name = "first"
  assert(items:saveChanges())
  done = done + 1
end)
timer.after(0, function()
  items[3].name = "second"
  assert(items:saveChanges())
  done = done + 1
end)
while done < 2 do timer.sleep(0.001) end
print(items.hasChanges, items[1].name, items[2].name, items[3].name)  -- expect: false	meanwhile	first	second
