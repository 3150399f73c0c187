-- load takes text only: bytecode is never loaded.

local bytes = string.dump and pcall(string.dump, function() return 1 end) and string.dump(function() return 1 end)
print(load(bytes or "\27Lua"))
-- expect: nil	attempt to load a binary chunk (mode is 't')
print((load("\27LuaT\0\25\147", "b", "b")))
-- expect: nil
local parts = { "\27", "Lua" }
print(load(function() return table.remove(parts, 1) end))
-- expect: nil	attempt to load a binary chunk (mode is 't')
print(load("return 1 + 1")(), load(function() return nil end) ~= nil)
-- expect: 2	true
print(select(2, load("x =")))
-- expect: [string "x ="]:1: unexpected symbol near <eof>
print(package.loadlib, package.searchers, rawget(_G, "debug") and debug.sethook)
-- expect: nil	nil	nil
print((pcall(function() return dofile end)), (pcall(function() return loadfile end)))
-- expect: false	false
