-- Scripts that will not end, one a line: the tests and `scripts/bench stops` run each until it is stopped.
-- Beside Lua's library they use `call(f, …)`, which calls a Lua function from Swift, and `Counter()`, an object of the host.

-- Loops, in every place where Lua code runs.
while true do end
repeat until false
::top:: goto top
local function f() return f() end f()
for i = 1, math.huge do end
while true do pcall(error) end
while true do pcall(error, nil) end
while true do pcall(function() while true do end end) end
local function f() pcall(f) pcall(f) end f()
local function f() return pcall(f), pcall(f) end f()
while true do xpcall(error, function() end) end
while true do xpcall(function() while true do end end, function() while true do end end) end
while true do xpcall(error, function() while true do end end) end
while true do coroutine.wrap(function() while true do end end)() end
while true do pcall(coroutine.wrap(function() while true do end end)) end
while true do local co = coroutine.create(function() while true do end end) coroutine.resume(co) end
coroutine.wrap(function() coroutine.wrap(function() coroutine.wrap(function() while true do end end)() end)() end)()
local function nest(n) if n == 0 then while true do end end pcall(coroutine.wrap(nest), n - 1) end nest(30) while true do end
for i in coroutine.wrap(function() while true do coroutine.yield(1) end end) do end
for i in coroutine.wrap(function() while true do pcall(coroutine.yield, 1) end end) do end
local co = coroutine.create(function() while true do coroutine.yield() end end) while true do coroutine.resume(co) end
do local t <close> = setmetatable({}, { __close = function() while true do end end }) end
do local t <close> = setmetatable({}, { __close = function() while true do pcall(error) end end }) error('x') end
local co = coroutine.create(function() local t <close> = setmetatable({}, { __close = function() while true do end end }) coroutine.yield() end) coroutine.resume(co) coroutine.close(co)
while true do local t <close> = setmetatable({}, { __close = function() pcall(function() while true do end end) end }) end
local t <close> = setmetatable({}, { __close = function() while true do end end }) table.sort({ 3, 2, 1 }, function() while true do end end)
coroutine.wrap(function() local t <close> = setmetatable({}, { __close = function() while true do end end }) table.sort({ 3, 2, 1 }, function() while true do end end) end)()
local co = coroutine.create(function() local t <close> = setmetatable({}, { __close = function() while true do end end }) string.gsub('x', 'x', function() while true do end end) end) coroutine.resume(co) coroutine.close(co)
table.sort({ 3, 2, 1, 5, 4 }, function() while true do end end)
while true do pcall(table.sort, { 3, 2, 1, 5, 4 }, function() while true do end end) end
string.gsub('aaa', 'a', function() while true do end end)
while true do pcall(string.gsub, 'aaa', 'a', function() while true do end end) end
local t = setmetatable({}, { __index = function(t, k) while true do end end }) return t.x
local t = setmetatable({}, { __tostring = function() while true do end end }) return ('%s'):format(t)
for k in pairs(setmetatable({}, { __pairs = function() while true do end end })) do end
return setmetatable({}, { __eq = function() while true do end end }) == setmetatable({}, {})
load(function() while true do end end)
while true do load('return 1')() end
call(function() while true do pcall(call, function() while true do end end) end end)
call(coroutine.wrap(function() call(function() while true do end end) end))
while true do local c = Counter(1) c.count = c.count + 1 pcall(c.refuse, c, 'no') end
while true do collectgarbage('step') end

-- Long calls of the library, where no hook fires.
('a'):rep(40):find(('a?'):rep(40) .. ('a'):rep(40))
('a'):rep(100000):match(('.-'):rep(8) .. 'b')
('a'):rep(1000000):find('.-b')
('a'):rep(1000000):match('a*b')
('a'):rep(1000000):gsub('.-b', '')
for x in ('a'):rep(1000000):gmatch('.-b') do end
('('):rep(1000000):find('%b()')
('a'):rep(200000):match('(.*)%1b')
local p = '[' .. ('b'):rep(1000000) .. ']-c' while true do ('a'):rep(1000000):find(p) end
while true do ('a'):rep(1000000):find('%f[b].-b.-c') end
('a'):rep(30):rep(10000):find('(a*)*(a*)*(a*)b')
while true do ('a'):rep(1000000):find(('a'):rep(500000) .. 'b', 1, true) end
while true do pcall(string.find, ('a'):rep(40), ('a?'):rep(40) .. ('a'):rep(40)) end
coroutine.wrap(function() ('a'):rep(40):find(('a?'):rep(40) .. ('a'):rep(40)) end)()
pcall(call, string.find, ('a'):rep(40), ('a?'):rep(40) .. ('a'):rep(40)) while true do end
while true do (''):rep(1 << 60) end
while true do ('x'):rep(10000000) end
local s = ('aB'):rep(5000000) while true do s:upper() s:lower() s:reverse() utf8.len(s) end
table.insert(setmetatable({}, { __len = function() return 1 << 50 end }), 1, 1)
table.remove(setmetatable({}, { __len = function() return 1 << 50 end }), 1)
table.move({}, 1, 1 << 50, 2)
table.move({}, 1, 1 << 50, 2, {})
table.concat(setmetatable({}, { __index = rawlen }), '', 1, 1 << 50)
table.concat(setmetatable({}, { __index = function() return '' end }), '', 1, 1 << 50)
table.sort(setmetatable({}, { __len = function() return 1 << 30 end, __index = function(_, i) return -i end }))
local t = {} for i = 1, 300000 do t[i] = i * 7919 % 300007 end while true do table.sort(t) end
table.sort(setmetatable({}, { __len = function() return 1 << 30 end }), rawequal)
while true do pcall(table.unpack, {}, 1, 900000) end
load(('x = 1 '):rep(5000000))
while true do load(('x = 1 '):rep(100000)) end
while true do utf8.len(('é'):rep(1000000)) end
local s = ('x'):rep(30000000) while true do ('%q'):format(s) end
local s = ('%%'):rep(30000000) while true do s:format() end
local s, t = ('%s'):rep(200), {} for i = 1, 200 do t[i] = ('x'):rep(1000000) end while true do s:format(table.unpack(t)) end
while true do pcall(os.date, ('%c'):rep(1000000)) end
while true do pcall(string.packsize, ('x'):rep(30000000)) end
while true do pcall(string.pack, ('x'):rep(50000000)) end
while true do pcall(string.unpack, (' '):rep(50000000), 'x') end
local s = 'a' .. ('\x80'):rep(50000000) .. 'b' while true do utf8.offset(s, 3) end
local s = 'a' .. ('\x80'):rep(50000000) .. 'b' while true do for _ in utf8.codes(s, true) do end end
local s = ('9'):rep(50000000) while true do tonumber(s) end
local s = ('z'):rep(50000000) while true do tonumber(s, 36) end
local s = ('9'):rep(50000000) while true do local _ = pcall(function() return s + 1 end) end
local t = {} for i = 1, 400000 do t[i] = { i } end while true do collectgarbage() end
while true do pcall(string.byte, ('x'):rep(1000000), 1, -1) end
local s = ('x'):rep(900000) while true do utf8.codepoint(s, 1, -1) end
local s = ('x'):rep(10000000) while true do local _ = s .. s end
local t = {} while true do for i = 1, 2000000 do t[i] = i end t = {} end
local t = {} for i = 1, 12 do t[i] = ('a\0'):rep(1000000) .. i end while true do table.sort(t) end
local t = {} for i = 1, 100 do t[i] = ('x'):rep(1000000) end while true do table.concat(t) end
