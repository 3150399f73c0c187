-- Lua's own io and os, within the sandbox.

local path = app.container.tmp .. "/file.txt"
local file = assert(io.open(path, "w"))
print(io.type(file), io.type(io.stdout), io.type(3))
-- expect: file	file	nil
file:write("one\n", 2, "\nthree")
file:close()
print(io.type(file))
-- expect: closed file
for line in io.lines(path) do io.write("[", line, "]") end
io.write("\n")
-- expect: [one][2][three]
file = assert(io.open(path, "a"))
file:write("\nfour")
file:close()
file = assert(io.open(path))
print(file:read("l"), file:read("n"), file:seek("cur") > 0, (file:read("a"):gsub("\n", "|")), file:read("l"))
-- expect: one	2	true	|three|four	nil
file:close()
file = assert(io.open(path, "r+"))
file:write("ONE")
file:seek("set", 0)
print(file:read())
-- expect: ONE
file:close()
local none, err = io.open(app.container.tmp .. "/none.txt")
print(none, err.code, err.path ~= nil)
-- expect: nil	2	true
print(pcall(io.open, path, "rubbish"))
-- expect: false	bad argument #2 'mode' to 'io.open' (invalid mode 'rubbish')
print(pcall(io.open))
-- expect: false	bad argument #1 'path' to 'io.open' (string expected, got no value)
print(pcall(file.read, file))
-- expect: false	attempt to use a closed file

