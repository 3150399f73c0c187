-- What people's test helpers take of `debug`: the metatables of a script's own tables, and of nothing else.
local mark = { __index = { answer = 42 } }
local own = debug.setmetatable({}, mark)
print(own.answer, debug.getmetatable(own) == mark, debug.getmetatable({}))
-- expect: 42	true	nil
local protected = setmetatable({}, { __metatable = false })
print(debug.getmetatable(protected), debug.getmetatable("text"), debug.getmetatable(items), debug.getmetatable(nil))
-- expect: nil	nil	nil	nil
print(pcall(debug.setmetatable, "text", nil))
-- expect: false	debug.setmetatable takes a script's own table here, got string
print((pcall(debug.setmetatable, protected, {})))
-- expect: false
print(debug.sethook, debug.getregistry, debug.getupvalue)
-- expect: nil	nil	nil
