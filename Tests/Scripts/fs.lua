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

-- A file is no folder, and a folder no file.
path = documents .. "/file"
assert(fs.write(path, "text"))
print((tostring(select(2, fs.makeDirectory(path))):gsub("folder .*:", "folder …:")))
-- expect: cannot make the folder …: Not a directory
print((tostring(select(2, fs.makeDirectory(path .. "/a/b"))):gsub("folder .*:", "folder …:")))
-- expect: cannot make the folder …: Not a directory
print(fs.makeDirectory(documents), fs.makeDirectory(documents .. "/a/b"), fs.makeDirectory(documents .. "/a/b/"))
-- expect: true	true	true
for _, folder in ipairs{ documents, documents .. "/a", app.container.tmp } do
  local ok, err = fs.write(folder, "x")
  print(ok, (tostring(err):gsub("write .*:", "write …:")))
end
-- expect: nil	cannot write …: Is a directory
-- expect: nil	cannot write …: Is a directory
-- expect: nil	cannot write …: Is a directory

-- An empty path names nothing.
for name, call in pairs{
  read = fs.read, list = fs.list, makeDirectory = fs.makeDirectory, remove = fs.remove, stat = fs.stat, hash = fs.hash,
  write = function(path) return fs.write(path, "x") end, copy = function(path) return fs.copy(documents .. "/file", path) end,
  watch = function(path) return fs.watch(path, print) end,
  open = function(path) return io.open(path) end, sqlite = function(path) return sqlite.open(path) end,
} do
  local ok, result, err = pcall(call, "")
  if not tostring(err or result):find('"": the path is empty', 1, true) then print(name, result, err) end
end
print(fs.exists(""), fs.isDirectory(""))
-- expect: false	false
