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


-- Reading, by formats of all kinds, as Lua reads.
fs.write(path, "12 0x1F -3.5e2 .5 x\nsecond line\n\nlast\0one")
file = assert(io.open(path))
print(file:read("n", "n", "n", "n", "n"))
-- expect: 12	31	-350.0	0.5	nil
print(file:read("L"), file:read(0), file:read(6, "l"))
-- expect: x
-- expect: 		second	 line
print(#file:read("L"), file:read("*l") == "last\0one", file:read(0), file:read("a"), file:read("a"), file:read("l"), file:read(5))
-- expect: 1	true	nil			nil	nil
print(pcall(file.read, file, "q"))
-- expect: false	bad argument #2 to '?' (invalid format)
file:seek("set")
for a, b in file:lines(2, "L") do print(a, (b or "none"):gsub("[\n\0]", "|")) end
-- expect: 12	 0x1F -3.5e2 .5 x|	1
-- expect: se	cond line|	1
-- expect: 
-- expect: l	ast|one	1
file:close()
print(pcall(file.lines, file))
-- expect: false	attempt to use a closed file
local line = ("x"):rep(300000)
fs.write(path, line .. "\n" .. line)
local lengths = {}
for each in io.lines(path, "L") do lengths[#lengths + 1] = #each end
print(table.concat(lengths, " "), #assert(io.open(path)):read("a"), #assert(io.open(path)):read(1 << 40))
-- expect: 300001 300000	600001	600001

-- A file that is open for writing only is not read.
file = assert(io.open(path, "w"))
for _, format in ipairs{ "a", "l", "n", 1, 1 << 20 } do print(file:read(format)) end
-- expect: nil	Bad file descriptor	9
-- expect: nil	Bad file descriptor	9
-- expect: nil	Bad file descriptor	9
-- expect: nil	Bad file descriptor	9
-- expect: nil	Bad file descriptor	9
file:close()
file = assert(io.open(path, "w+"))
print(#file:read("a"), file:read(1 << 20), file:write("text"):seek("set"), file:read("a"))
-- expect: 0	nil	0	text
file:close()
