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

-- A timer that fails three times in a row is paused, with one notice.
local calls, fails = 0, true
local failing = timer.every(0.001, function()
  calls = calls + 1
  if fails then error("again") end
end)
while not failing.isPaused do timer.sleep(0.001) end
timer.sleep(0.005)
print(calls, failing)
-- expect log: again
-- expect log: again
-- expect log: again
-- expect log: failed 3 times in a row and is paused: t:resume() takes it up again
-- expect: 3	Timer(every 0.001 s, timers.lua:48, paused)
fails = false
failing:resume()
while calls < 5 do timer.sleep(0.001) end
failing:pause()
failing:cancel()
print(failing.isPaused, failing.isCancelled)
-- expect: true	true

-- Each day at a time of day, by the clock of a zone.
local rung
local soon = (date() + 1):format("%H:%M:%S", "Asia/Kathmandu")
local daily = timer.at(soon, "Asia/Kathmandu", function() rung = date() end)
while not rung do timer.sleep(0.01) end
print(rung:format("%H:%M:%S", "Asia/Kathmandu") >= soon or soon > "23:59", daily.isCancelled)
-- expect: true	false
daily:cancel()
print(tostring(timer.at("02:30", function() end)):gsub("lua:%d+", "lua"), tostring(timer.at("2:30", "local", print)))
-- expect: Timer(at 02:30 local, timers.lua)	Timer(at 2:30 local)
for _, call in ipairs{ { "24:00", print }, { "02:60", print }, { "0230", print }, { "02:3", print }, { "-1:00", print },
  { "", print }, { "02:30:00:00", print }, { "02:30" }, { "02:30", "UTC" }, { "02:30", "Nowhere", print }, { "02:30", print, print }, { 230, print } }
do print((select(2, pcall(timer.at, table.unpack(call))))) end
-- expect: bad argument #1 'time' to 'timer.at' (a time of day from 00:00 to 23:59:59 expected, got '24:00')
-- expect: bad argument #1 'time' to 'timer.at' (a time of day from 00:00 to 23:59:59 expected, got '02:60')
-- expect: bad argument #1 'time' to 'timer.at' (a time of day from 00:00 to 23:59:59 expected, got '0230')
-- expect: bad argument #1 'time' to 'timer.at' (a time of day from 00:00 to 23:59:59 expected, got '02:3')
-- expect: bad argument #1 'time' to 'timer.at' (a time of day from 00:00 to 23:59:59 expected, got '-1:00')
-- expect: bad argument #1 'time' to 'timer.at' (a time of day from 00:00 to 23:59:59 expected, got '')
-- expect: bad argument #1 'time' to 'timer.at' (a time of day from 00:00 to 23:59:59 expected, got '02:30:00:00')
-- expect: bad argument #2 'zone' to 'timer.at' (string or function expected, got no value)
-- expect: bad argument #3 'handler' to 'timer.at' (function expected, got no value)
-- expect: bad argument #2 'zone' to 'timer.at' (there is no time zone 'Nowhere' (names are as Europe/Berlin, UTC, local or +02:00))
-- expect: bad argument #2 'zone' to 'timer.at' (a zone's name expected before the handler)
-- expect: bad argument #1 'time' to 'timer.at' (string expected, got number)

-- A timer's function may wait; it goes on although nothing of the script refers to it.
local ended = 0
timer.after(0, function() timer.sleep(0.001) collectgarbage() ended = ended + 1 end)
timer.after(0, function() timer.sleep(0.002) ended = ended + 1 end)
while ended < 2 do timer.sleep(0.001) end
print(ended)  -- expect: 2

-- A timer that is due while its function waits is not entered again: one notice tells that calls are left out.
local entered, most, done = 0, 0, 0
local slow
slow = timer.every(0.001, function()
  entered = entered + 1
  most = math.max(most, entered)
  timer.sleep(0.01)
  entered, done = entered - 1, done + 1
  if done == 3 then slow:cancel() end
end)
while done < 3 do timer.sleep(0.001) end
print(most, done)
-- expect log: was due while its function was still running: calls are left out until it ends
-- expect: 1	3
