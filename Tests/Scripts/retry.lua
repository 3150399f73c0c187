-- timer.retry calls a function until it succeeds; its caller waits, the host goes on.

local ticks = 0
local clock = timer.every(0.001, function() ticks = ticks + 1 end)
print(timer.retry{ times = 3, delay = 0.01, run = function(call)
  if call < 3 then return nil, "not yet" end
  return "done", call, nil
end })
-- expect: done	3	nil
print(ticks > 2)
-- expect: true
clock:cancel()

-- It fails when it raises, or returns nil and an error; the last error is the result.
print(timer.retry{ times = 2, delay = 0, run = function(call) return nil, "failure " .. call end })
-- expect: nil	failure 2
print(timer.retry{ times = 2, delay = 0, run = function(call) error("raised " .. call, 0) end })
-- expect: nil	raised 2
local none, err = timer.retry{ times = 1, run = function() return fs.read(app.container.tmp .. "/nothing") end }
print(none, err.code)
-- expect: nil	2
local thrown = { code = 7 }
print(select(2, timer.retry{ times = 1, run = function() error(thrown) end }) == thrown)
-- expect: true
print(select("#", timer.retry{ times = 2, run = function() end }), (timer.retry{ run = function() return false, "no error" end }))
-- expect: 0	false

-- It may wait itself, in a coroutine of the script and in a handler, too; its changes are committed.
print(coroutine.wrap(function()
  return timer.retry{ times = 2, delay = 0.001, run = function(call)
    timer.sleep(0.001)
    items:createItem{ name = "call " .. call }
    if call == 1 then error("again") end
    return #items
  end }
end)())
-- expect: 2
app:on("user.retry", function()
  print(timer.retry{ times = 2, delay = 0.001, jitter = 1, run = function(call) return call == 2 and "in a handler" or nil, "x" end })
end)
app:emit("user.retry")
-- expect: in a handler	x

-- A limit ends the row at once, and no pcall keeps it.
local calls = 0
app:on("user.limit", { budget = 0.03 }, function()
  timer.retry{ times = 1000, delay = 0, run = function() calls = calls + 1 while true do end end }
end)
app:emit("user.limit")
print(calls)
-- expect: 1
-- expect log: time is up
app:on("user.wait", { budget = 0.03 }, function() timer.retry{ times = 2, delay = 3600, run = function() error("never again") end } end)
app:emit("user.wait")
-- expect log: time is up

for _, options in ipairs{ { times = 0, run = print }, { delay = -1, run = print }, { factor = -2, run = print }, { jitter = 2, run = print },
  {}, { run = 1 }, { time = 2, run = print }, { times = "two", run = print } } do
  print((select(2, pcall(timer.retry, options))))
end
-- expect: bad argument #1 'options' to 'timer.retry' (option 'times': a number from 1 expected, got 0)
-- expect: bad argument #1 'options' to 'timer.retry' (option 'delay': a number from 0 expected, got -1.0)
-- expect: bad argument #1 'options' to 'timer.retry' (option 'factor': a number from 0 expected, got -2.0)
-- expect: bad argument #1 'options' to 'timer.retry' (option 'jitter': 0 to 1 expected, got 2.0)
-- expect: bad argument #1 'options' to 'timer.retry' (option 'run': function expected, got no value)
-- expect: bad argument #1 'options' to 'timer.retry' (option 'run': function expected, got number)
-- expect: bad argument #1 'options' to 'timer.retry' (unknown option 'time'; did you mean 'times'?)
-- expect: bad argument #1 'options' to 'timer.retry' (option 'times': integer expected, got string)
