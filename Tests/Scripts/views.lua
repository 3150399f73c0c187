-- A list or a dictionary of a field is read-only, and answers to Lua's raw functions, too.

local a = items:createItem{ name = "A", tags = { "x", "y" }, dims = { w = 1 }, none = {} }
print(next(a.tags), next(a.dims), next(a.none))
-- expect: 1	w	nil
print(next(a.tags, 1))
-- expect: 2	y
print(next(a.tags, 2))
-- expect: nil
for key, value in next, a.dims do print(key, value) end
-- expect: w	1
print(rawlen(a.tags), rawlen("text"), rawget(a.tags, 2), rawget(a.dims, "w"), rawget(a.dims, "h"))
-- expect: 2	4	y	1	nil
print((select(2, pcall(rawset, a.dims, "w", 5))))
-- expect: this value is read-only: assign a new table to the item's field
local own = setmetatable({ 1, 2 }, { __index = function() return 9 end, __len = function() return 7 end })
print(rawlen(own), rawget(own, 3), rawset(own, 3, 3) == own, own[3], next({}), next(own))
-- expect: 2	nil	true	3	nil	1	1
print(select(2, pcall(next, 5)), select(2, pcall(rawlen, 5)))
-- expect: bad argument #1 to 'next' (table expected, got number)	bad argument #1 to 'rawlen' (table or string expected, got number)
