-- debug.traceback, of what runs, of what waits and of what has died of an error.
local function lines(text) return select(2, text:gsub("\n", "")) end

local dead = coroutine.create(function()
  local function deep() error("no") end
  deep()
end)
print(coroutine.resume(dead))
-- expect: false	tracebacks.lua:5: no
local text = debug.traceback(dead, "of the dead")
print(text:match("^[^\n]+"), text:find("tracebacks.lua:5:", 1, true) ~= nil, text:find("tracebacks.lua:6:", 1, true) ~= nil)
-- expect: of the dead	true	true
print(debug.traceback(dead):match("^[^\n]+"), coroutine.status(dead))
-- expect: stack traceback:	dead
print(coroutine.close(dead), debug.traceback(dead))
-- expect: false	stack traceback:

local waiting = coroutine.create(function() coroutine.yield(1) end)
coroutine.resume(waiting)
print(lines(debug.traceback(waiting)), debug.traceback(waiting):find("in function 'coroutine.yield'", 1, true) ~= nil)
-- expect: 2	true

local here = debug.traceback("here")
print(here:match("^[^\n]+"), here:find("tracebacks.lua", 1, true) ~= nil, here:match("[^\n\t]+$"))
-- expect: here	true	[C]: in ?
local value = {}
print(debug.traceback(value) == value, debug.traceback(nil):match("^[^\n]+"), debug.traceback("x", 100))
-- expect: true	stack traceback:	x
-- expect: stack traceback:
print(pcall(debug.traceback, "x", "y"))
-- expect: false	bad argument #2 to 'debug.traceback' (number expected, got string)
