-- Timers go on while a script waits; what they change is committed when they end.

local order = {}
timer.after(0.02, function() order[#order + 1] = "second" end)
timer.after(0, function() order[#order + 1] = "first" end)
local cancelled = timer.after(0, function() order[#order + 1] = "never" end)
cancelled:cancel()
cancelled:cancel()
local ticks = 0
local every
every = timer.every(0.001, function()
  ticks = ticks + 1
  if ticks == 3 then every:cancel() end
end)
timer.sleep(0.05)
print(table.concat(order, ", "), ticks)
-- expect: first, second	3

-- A timer that fails is reported; the others go on.
timer.after(0, function() error("in the timer") end)
-- expect log: in the timer
timer.after(0.001, function() items:createItem{ name = "from a timer" } end)
timer.sleep(0.02)
print(#items, app:errors()[1].message, app:errors()[1].event)
-- expect: 1	timers.lua:20: in the timer	timer

-- Waiting in a coroutine of the script's own, and in a handler.
local co = coroutine.wrap(function()
  timer.sleep(0.001)
  coroutine.yield("yielded")
  return "done"
end)
print(co(), co())
-- expect: yielded	done
app:on("user.wait", function() timer.sleep(0.001); print("waited in a handler") end)
app:emit("user.wait")
-- expect: waited in a handler
table.sort({ 3, 1, 2 }, function(a, b) timer.sleep(0); return a < b end)
print(pcall(timer.after, -1, print))
-- expect: false	bad argument #1 'seconds' to 'timer.after' (a number of seconds from 0 expected, got -1.0)
print(pcall(timer.after, 1))
-- expect: false	bad argument #2 'handler' to 'timer.after' (function expected, got no value)
print(pcall(timer.sleep, "soon"))
-- expect: false	bad argument #1 'seconds' to 'timer.sleep' (number expected, got string)

-- A timer's function may wait; it goes on although nothing of the script refers to it.
local ended = 0
timer.after(0, function() timer.sleep(0.001) collectgarbage() ended = ended + 1 end)
timer.after(0, function() timer.sleep(0.002) ended = ended + 1 end)
while ended < 2 do timer.sleep(0.001) end
print(ended)  -- expect: 2
