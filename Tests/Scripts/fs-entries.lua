-- Examining, walking, copying, moving and hashing files.

local folder = app.container.tmp .. "/tree"
for _, name in ipairs{ "a.txt", ".hidden", "sub/b.txt", "sub/deep/c.txt" } do
  fs.makeDirectory(folder .. "/" .. (name:match("(.*)/") or ""))
  assert(fs.write(folder .. "/" .. name, name))
end

local s = assert(fs.stat(folder .. "/a.txt"))
print(s.kind, s.size, string.format("%o", s.permissions), date() - s.modified < 60, s.created == nil or date() - s.created < 60)
-- expect: file	5	644	true	true
print(fs.stat(folder).kind, fs.isDirectory(folder), fs.isDirectory(folder .. "/a.txt"), fs.isDirectory(folder .. "/none"), fs.isDirectory("/etc"))
-- expect: directory	true	false	false	false
local none, err = fs.stat(folder .. "/none")
print(none, err.code, err.path == folder .. "/none")
-- expect: nil	2	true
print(fs.stat("/etc/passwd"))
-- expect: nil	cannot open /etc/passwd: it is outside the sandbox; --allow-read DIR grants it	13
print(pcall(fs.stat, folder, { follow = true }))
-- expect: false	bad argument #2 'options' to 'fs.stat' (unknown option 'follow'; the only one is 'followLinks')

local function names(options)
  local found = {}
  for path, info, err in fs.walk(folder, options) do
    assert(not err)
    found[#found + 1] = path:sub(#folder + 2) .. (info.kind == "directory" and "/" or " " .. info.size)
  end
  table.sort(found)
  return table.concat(found, ", ")
end
print(names())
-- expect: .hidden 7, a.txt 5, sub/, sub/b.txt 9, sub/deep/, sub/deep/c.txt 14
print(names{ hidden = false, depth = 2 })
-- expect: a.txt 5, sub/, sub/b.txt 9, sub/deep/
-- Walks that were left do not hold all descriptors there are.
for _ = 1, 3000 do for _ in fs.walk(folder) do break end end
print((select(2, pcall(fs.walk, folder .. "/none")):gsub("/.*/", "…/")))
-- expect: cannot examine …/none: No such file or directory
print(pcall(fs.walk, folder, { depth = 0 }))
-- expect: false	bad argument #2 'options' to 'fs.walk' (option 'depth': a number from 1 expected, got 0)
print(pcall(fs.walk, "/etc"))
-- expect: false	cannot examine /etc: it is outside the sandbox; --allow-read DIR grants it

print(fs.hash(folder .. "/a.txt"), data("a.txt"):hash() == fs.hash(folder .. "/a.txt"))
-- expect: 18b7cb099a9ea3f50ba899b5ba81e0d377a5f3b16f8f6eeb8b3e58cd4692b993	true
print(data(""):hash())
-- expect: e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855
print(select(2, fs.hash(folder)).code, select(2, fs.hash(folder .. "/none")).code, select(2, fs.hash("/etc/passwd")).code)
-- expect: 21	2	13

print(fs.copy(folder .. "/a.txt", folder .. "/copy.txt"), fs.read(folder .. "/copy.txt"), fs.read(folder .. "/a.txt"))
-- expect: true	a.txt	a.txt
print(fs.copy(folder .. "/sub/b.txt", folder .. "/copy.txt"), fs.read(folder .. "/copy.txt"))
-- expect: true	sub/b.txt
print(fs.copy(folder .. "/copy.txt", folder .. "/copy.txt"), fs.read(folder .. "/copy.txt"))
-- expect: true	sub/b.txt
print(fs.move(folder .. "/copy.txt", folder .. "/moved.txt"), fs.exists(folder .. "/copy.txt"), fs.read(folder .. "/moved.txt"))
-- expect: true	false	sub/b.txt
print(fs.move(folder .. "/sub", folder .. "/other"), fs.read(folder .. "/other/deep/c.txt"))
-- expect: true	sub/deep/c.txt

-- What the world refuses leaves everything as it was.
local function refused(what, value, err) print(what, value, err.code, (err.message:gsub("/.*/", "…/"))) end
refused("folder", fs.copy(folder .. "/other", folder .. "/new"))
-- expect: folder	nil	21	cannot copy …/other: it is a folder: { recursive = true } copies it with all beneath it
refused("absent", fs.copy(folder .. "/none", folder .. "/new"))
-- expect: absent	nil	2	cannot open …/none: No such file or directory
refused("absent", fs.move(folder .. "/none", folder .. "/new"))
-- expect: absent	nil	2	cannot move …/none: No such file or directory
refused("onto a folder", fs.copy(folder .. "/a.txt", folder .. "/other"))
refused("onto a folder", fs.move(folder .. "/a.txt", folder .. "/other"))
refused("no folder", fs.copy(folder .. "/a.txt", folder .. "/none/new"))
refused("no folder", fs.move(folder .. "/a.txt", folder .. "/none/new"))
refused("into itself", fs.move(folder .. "/other", folder .. "/other/deep/new"))
-- expect: onto a folder	nil	21	cannot write …/other: Is a directory
-- expect: onto a folder	nil	21	cannot move …/other: Is a directory
-- expect: no folder	nil	2	cannot write …/new: No such file or directory
-- expect: no folder	nil	2	cannot move …/new: No such file or directory
-- expect: into itself	nil	22	cannot move …/new: Invalid argument
refused("out", fs.copy(folder .. "/a.txt", "/tmp/cubby-escape"))
refused("out", fs.move(folder .. "/a.txt", "/tmp/cubby-escape"))
refused("in", fs.copy("/etc/passwd", folder .. "/new"))
refused("in", fs.move("/etc/hostname", folder .. "/new"))
-- expect: out	nil	13	cannot write …/cubby-escape: it is outside the sandbox; --allow-write DIR grants it
-- expect: out	nil	13	cannot write …/cubby-escape: it is outside the sandbox; --allow-write DIR grants it
-- expect: in	nil	13	cannot open …/passwd: it is outside the sandbox; --allow-read DIR grants it
-- expect: in	nil	13	cannot write …/hostname: it is outside the sandbox; --allow-write DIR grants it
items:createItem{ name = "Bear" }
assert(items:saveChanges())
-- expect log: Saved all of the Items
print(fs.copy(items.archivePath, folder .. "/new"), fs.hash(folder .. "/new") == fs.hash(items.archivePath), fs.remove(folder .. "/new"))
-- expect: true	true	true
refused("own", fs.copy(folder .. "/a.txt", items.archivePath))
refused("own", fs.move(items.archivePath, folder .. "/new"))
refused("own", fs.move(folder .. "/a.txt", items.archivePath))
refused("own", fs.move(app.container.documents, folder .. "/new"))
refused("own", fs.hash(app.container.path .. "/Library/format"))
-- expect: own	nil	13	cannot write …/items.archive: it is a file of the host's own
-- expect: own	nil	13	cannot write …/items.archive: it is a file of the host's own
-- expect: own	nil	13	cannot write …/items.archive: it is a file of the host's own
-- expect: own	nil	13	cannot move …/Documents: it holds a file of the host's own
-- expect: own	nil	13	cannot open …/format: it is a file of the host's own
refused("own", fs.remove(app.container.documents, { recursive = true }))
-- expect: own	nil	13	cannot remove …/Documents: it holds a file of the host's own
print(names())
-- expect: .hidden 7, a.txt 5, moved.txt 9, other/, other/b.txt 9, other/deep/, other/deep/c.txt 14

-- Folders, with all beneath them.
local deep = { recursive = true }
print(fs.copy(folder .. "/other", folder .. "/again", deep), fs.read(folder .. "/again/deep/c.txt"), fs.read(folder .. "/other/b.txt"))
-- expect: true	sub/deep/c.txt	sub/b.txt
refused("there", fs.copy(folder .. "/other", folder .. "/again", deep))
-- expect: there	nil	17	cannot copy …/again: there is something already, and a folder is copied to a new path
refused("into itself", fs.copy(folder .. "/other", folder .. "/other/deep/new", deep))
-- expect: into itself	nil	22	cannot copy …/other: it would be copied into itself
print(fs.copy(app.container.documents, folder .. "/new", deep), fs.hash(folder .. "/new/items.archive") == fs.hash(items.archivePath), fs.remove(folder .. "/new", deep))
-- expect: true	true	true
print((select(2, fs.remove(folder .. "/again")).message:gsub("/.*/", "…/")))
-- expect: cannot remove …/again: Directory not empty
print(fs.remove(folder .. "/again", deep), fs.copy(folder .. "/a.txt", folder .. "/b.txt", deep), fs.remove(folder .. "/b.txt", deep))
-- expect: true	true	true
print(names())
-- expect: .hidden 7, a.txt 5, moved.txt 9, other/, other/b.txt 9, other/deep/, other/deep/c.txt 14
print((select(2, fs.remove(folder .. "/none", deep)).message:gsub("/.*/", "…/")))
-- expect: cannot remove …/none: No such file or directory
for _, call in ipairs{
  function() fs.copy(folder) end, function() fs.move(1, 2) end, function() fs.hash() end, function() fs.stat({}) end,
  function() fs.walk(folder, { depth = "all" }) end, function() fs.walk(folder, { followLinks = 1 }) end,
} do print((select(2, pcall(call)):gsub("^.-:%d+: ", ""))) end
-- expect: bad argument #2 'to' to 'fs.copy' (string expected, got no value)
-- expect: bad argument #1 'from' to 'fs.move' (string expected, got number)
-- expect: bad argument #1 'path' to 'fs.hash' (string expected, got no value)
-- expect: bad argument #1 'path' to 'fs.stat' (string expected, got table)
-- expect: bad argument #2 'options' to 'fs.walk' (option 'depth': integer expected, got string)
-- expect: bad argument #2 'options' to 'fs.walk' (option 'followLinks': boolean expected, got number)
print(select(2, fs.stat("a\0b")).code, select(2, fs.copy(folder .. "/a.txt\0", folder .. "/new")).code)
-- expect: 22	22
