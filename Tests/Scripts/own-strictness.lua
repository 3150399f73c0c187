-- A script may give its globals a strictness of its own, as Lua's strict.lua and Penlight do.
local mt = getmetatable(_G)
print(type(mt), (pcall(function() return undefinedName end)))
-- expect: table	false
local declared = {}
setmetatable(_G, {
    __newindex = function(t, name, value)
        if not declared[name] then error("assign to undeclared " .. name, 2) end
        rawset(t, name, value)
    end,
    __index = function(_, name) return "lazy " .. name end,
})
print(anything, (select(2, pcall(function() other = 1 end))))
-- expect: lazy anything	own-strictness.lua:13: assign to undeclared other
declared.other = true
other = 1
print(other, items ~= nil)
-- expect: 1	true
setmetatable(_G, nil)
print(undefinedName)
-- expect: nil
-- A module's name may have slashes; what is marked as not loaded is loaded.
print(require("deeper/inner").name, require("deeper/inner") == require("./deeper/inner"))
-- expect: deeper/inner	false
package.loaded.greeting = false
print(type(require("greeting")))
-- expect: table
