-- A module of the test require.lua.
loads = (rawget(_G, "loads") or 0) + 1
local greeting = {}
function greeting.hello(name) return "hello, " .. name end
return greeting
