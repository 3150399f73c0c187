-- Files within the sandbox.

local documents = app.container.documents
local path = documents .. "/notes/today.txt"
print(fs.exists(path), fs.makeDirectory(documents .. "/notes"), fs.exists(documents .. "/notes"))
-- expect: false	true	true
print(fs.write(path, "bytes \0 and all"), fs.read(path) == "bytes \0 and all", fs.exists(path))
-- expect: true	true	true
print(fs.write(path, data("data")), fs.read(path))
-- expect: true	data
print(table.concat(fs.list(documents .. "/notes"), " "))
-- expect: today.txt
print(fs.remove(path), fs.exists(path), #fs.list(documents .. "/notes"))
-- expect: true	false	0
local none, err = fs.read(path)
print(none, err.domain, err.code, err.path == path, err.message:find("No such file", 1, true) ~= nil)
-- expect: nil	NSPOSIXErrorDomain	2	true	true
print((tostring(select(2, pcall(function() assert(fs.read(path)) end))):gsub("open .*:", "open …:")))
-- expect: cannot open …: No such file or directory
print(select(2, fs.remove(path)).code, select(2, fs.list(path)).code, select(2, fs.read(documents)).code)
-- expect: 2	2	21
print(fs.remove(documents .. "/notes"))
-- expect: true
print(pcall(fs.read))
-- expect: false	bad argument #1 'path' to 'fs.read' (string expected, got no value)
print(pcall(fs.read, 3))
-- expect: false	bad argument #1 'path' to 'fs.read' (string expected, got number)
print(pcall(fs.write, path, {}))
-- expect: false	bad argument #2 'bytes' to 'fs.write' (string or data expected, got table)
