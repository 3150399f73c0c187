-- os, as far as it stays.

print(os.time{ year = 2026, month = 11, day = 21, hour = 12 } > 0, type(os.date()), os.clock() >= 0, os.difftime(5, 3))
-- expect: true	string	true	2.0
print(os.date("!%Y-%m-%d %H:%M:%S", 0), type(os.getenv("PATH")), os.getenv("NO_SUCH_VARIABLE_AT_ALL"))
-- expect: 1970-01-01 00:00:00	string	nil
local name = os.tmpname()
print(name:sub(1, #app.container.tmp) == app.container.tmp)
-- expect: true
local file = assert(io.open(name, "w"))
file:write("x")
file:close()
print(os.rename(name, name .. "2"), fs.exists(name), fs.read(name .. "2"), os.remove(name .. "2"), fs.exists(name .. "2"))
-- expect: true	false	x	true	false
print(os.remove(name) == nil, select(2, os.remove(name)).code, select(2, os.rename(name, name .. "3")).code)
-- expect: true	2	2
-- Other programs need --allow-run.
print((pcall(function() os.execute("true") end)), (pcall(function() io.popen("true") end)))
-- expect: false	false
