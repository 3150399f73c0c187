-- The handlers of didEnterBackground share four seconds of the five; the fifth is the save's.

local before = 5
local function left(event)
  local now = event:remaining()
  assert(now <= 4 and now < before, now)
  before = now
  local still = now - 0.01
  repeat until event:remaining() < still
end
app:on("didEnterBackground", left)
app:on("didEnterBackground", left)
app:on("willSave", function(event)
  print("willSave", event:remaining() <= before)
end)
app:on("didSave", function(event)
  -- The whole five seconds, what the save itself took among them.
  print("didSave", event.ok, event:remaining() <= before + 1)
end)
items:createItem{ name = "Clock" }
app:pressHome()
-- expect: willSave	true
-- expect: didSave	true	true
-- expect log: Saved all of the Items
