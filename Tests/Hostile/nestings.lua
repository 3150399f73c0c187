-- Scripts that nest without end, one a line, where a host runs them: each ends with an error that says "stack overflow" or
-- "nested too deep" in its own words, however small the stack is. `items` has one item.

-- Functions of the host that call functions of the script.
local function f() return items:query(function() return f() end):count() end f()
local function f() return #items:query(function() return f() end) end f()
local function f() return items:query(function() return f() end):first() end f()
local function f() for _, item in items:query(function() return f() end):each() do end end f()
local function f() items:transaction(f) end f()
local function f() items:transaction(function() local c <close> = setmetatable({}, { __close = f }) end) end f()
local function f(n) package.preload['m' .. n] = function() return f(n + 1) end return require('m' .. n) end f(1)

-- Lua's library.
local function f() return (('x'):gsub('.', f)) end f()
local function f() return (('x'):rep(100):gsub('.', f)) end f()
local function f() table.sort({ 2, 1 }, f) end f()
local function f() return string.format('%s', setmetatable({}, { __tostring = f })) end f()
local function f() return tostring(setmetatable({}, { __tostring = f })) end f()
local function f() print(setmetatable({}, { __tostring = f })) end f()
local function f() return utf8.char(setmetatable({}, { __index = f }).x) end f()
local t t = setmetatable({}, { __index = function() return table.concat(t, '', 1, 2) end }) table.concat(t, '', 1, 2)
local t t = setmetatable({}, { __index = function() return (table.unpack(t, 1, 2)) end }) table.unpack(t, 1, 2)
local t t = setmetatable({}, { __index = function() table.insert(t, 1, 1) end, __len = function() return 3 end }) table.insert(t, 1, 1)
local t t = setmetatable({}, { __pairs = function() return pairs(t) end }) for k in pairs(t) do end
local function f() assert(pcall(f)) end f()
local function f() assert(xpcall(f, debug.traceback)) end f()
local function f() assert(load(f)) end f()
local function f() return load('local f = ... return 1 + f(f)')(f) end f()
local s = 'return ' .. ('function() return '):rep(150) .. '1' .. (' end'):rep(150) local function f() assert(load(s)) return f(), 1 end f()

-- Metamethods.
local t t = setmetatable({}, { __len = function() return #t end }) return #t
local t t = setmetatable({}, { __index = function(t, k) return t[k .. 'x'] end }) return t.x
local t t = setmetatable({}, { __newindex = function(t, k, v) t[k .. 'x'] = v end }) t.x = 1
local t t = setmetatable({}, { __concat = function(a, b) return t .. t end }) return t .. t
local t t = setmetatable({}, { __lt = function(a, b) return t < t end }) return t < t
local t t = setmetatable({}, { __call = function() return 1 + t() end }) t()
local t t = setmetatable({}, { __unm = function() return -t end }) return -t
local function f() local x <close> = setmetatable({}, { __close = function() f() end }) end f()

-- Coroutines.
local function f() return coroutine.wrap(f)() end f()
local function f() assert(coroutine.resume(coroutine.create(f))) end f()
local function f() local co = coroutine.create(function() local x <close> = setmetatable({}, { __close = f }) coroutine.yield() end) coroutine.resume(co) assert(coroutine.close(co)) end f()

-- Nested data, as deep as is allowed or deeper. On a large stack some of it fits: the error at the end is the script's.
json.decode(('['):rep(511) .. (']'):rep(511)) error('stack overflow')
assert(json.decode(('['):rep(100000)))
local t = {} for i = 1, 500 do t = { t } end json.encode(t)
local t = {} for i = 1, 500 do t = { t } end plist.encode(t) error('stack overflow')
local t = {} for i = 1, 500 do t = { a = t } end plist.decode(plist.encode(t)) error('stack overflow')
local t = {} for i = 1, 500 do t = { a = t } end plist.decode(plist.encode(t, { format = 'xml' })) error('stack overflow')
local t = {} for i = 1, 500 do t = { a = t } end items[1].x = t error('stack overflow')
local t = {} for i = 1, 120 do t = { a = t } end items[1].x = t items:saveChanges() error('stack overflow')
predicate(('('):rep(10000) .. 'a == 1' .. (')'):rep(10000))
predicate(('NOT '):rep(10000) .. 'a == 1')
items:query('valueInDollars == 1' .. (' + 1'):rep(9000)):count() error('stack overflow')
items:query("name MATCHES '" .. ('('):rep(2000) .. 'x' .. (')'):rep(2000) .. "'"):count() error('stack overflow')
items:query(('('):rep(90) .. 'valueInDollars == 1' .. (')'):rep(90)):count() error('stack overflow')
