-- An error that ends the script: its place, the line, and the calls that led there.

local function inner() items:createItem{ name = 3 } end
local function outer() inner() end
print("before")
-- expect: before
local ok, message = pcall(outer)
print(ok, message)
-- expect: false	errors.lua:3: name takes a string: 3 is not one
print(select(2, xpcall(outer, function(m) return "handled: " .. m end)))
-- expect: handled: errors.lua:3: name takes a string: 3 is not one
local err = select(2, fs.read(app.container.tmp .. "/none"))
print(pcall(function() return err.cod end))
-- expect: false	errors.lua:13: Error has no property or method 'cod'; did you mean 'code'?
print(type(err.domain), type(err.code), type(err.message), tostring(err) == err.message or tostring(err):find(err.message, 1, true) ~= nil)
-- expect: string	number	string	true
outer()
-- expect error: errors.lua:3: name takes a string: 3 is not one
