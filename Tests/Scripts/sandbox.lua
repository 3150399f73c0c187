-- What lies outside of the container is not there for a script.

local documents = app.container.documents
local function refused(what, value, err)
  print(what, value, err.code, (err.message:gsub("^(%a+ %a+) /.*: ", "%1 …: ")))
end
refused("io.open", io.open("/etc/passwd"))
refused("io.open w", io.open("/tmp/cubby-escape", "w"))
refused("..", io.open(documents .. "/../../../../../../etc/passwd"))
refused("fs.read", fs.read("/etc/passwd"))
refused("fs.write", fs.write("/tmp/cubby-escape", "x"))
refused("fs.list", fs.list("/"))
refused("fs.remove", fs.remove("/tmp/cubby-escape"))
refused("fs.makeDirectory", fs.makeDirectory("/tmp/cubby-escape"))
refused("image.open", image.open("/etc/passwd"))
refused("os.remove", os.remove("/tmp/cubby-escape"))
refused("os.rename", os.rename(documents, "/tmp/cubby-escape"))
refused("csv.write", csv.write("/tmp/cubby-escape", { { a = 1 } }))
-- expect: io.open	nil	13	cannot open …: it is outside the sandbox; --allow-read DIR grants it
-- expect: io.open w	nil	13	cannot open …: it is outside the sandbox; --allow-write DIR grants it
-- expect: ..	nil	13	cannot open …: it is outside the sandbox; --allow-read DIR grants it
-- expect: fs.read	nil	13	cannot open …: it is outside the sandbox; --allow-read DIR grants it
-- expect: fs.write	nil	13	cannot write …: it is outside the sandbox; --allow-write DIR grants it
-- expect: fs.list	nil	13	cannot open …: it is outside the sandbox; --allow-read DIR grants it
-- expect: fs.remove	nil	13	cannot write …: it is outside the sandbox; --allow-write DIR grants it
-- expect: fs.makeDirectory	nil	13	cannot write …: it is outside the sandbox; --allow-write DIR grants it
-- expect: image.open	nil	13	cannot open …: it is outside the sandbox; --allow-read DIR grants it
-- expect: os.remove	nil	13	cannot write …: it is outside the sandbox; --allow-write DIR grants it
-- expect: os.rename	nil	13	cannot rename …: it is outside the sandbox; --allow-write DIR grants it
-- expect: csv.write	nil	13	cannot write …: it is outside the sandbox; --allow-write DIR grants it
print(fs.exists("/etc/passwd"), pcall(io.lines, "/etc/passwd"))
-- expect: false	false	cannot open /etc/passwd: it is outside the sandbox; --allow-read DIR grants it

-- The store's own files may be read, and are written by the store alone.
items:createItem{ name = "Bear" }
assert(items:saveChanges())
-- expect log: Saved all of the Items
for _, path in ipairs{ items.archivePath, documents .. "/./items.archive", documents .. "/../Documents/items.archive" } do
  print(fs.read(path):sub(1, 6), io.open(path):read(6), archiver.open(path).root[1].name, #plist.read(path)["$objects"] > 3)
  refused("archive", fs.write(path, ""))
  refused("archive", fs.remove(path))
  refused("archive", io.open(path, "r+"))
  refused("archive", io.open(path, "a"))
end
-- expect: bplist	bplist	Bear	true
-- expect: archive	nil	13	cannot write …: it is a file of the host's own
-- expect: archive	nil	13	cannot write …: it is a file of the host's own
-- expect: archive	nil	13	cannot open …: it is a file of the host's own
-- expect: archive	nil	13	cannot open …: it is a file of the host's own
-- expect: bplist	bplist	Bear	true
-- expect: archive	nil	13	cannot write …: it is a file of the host's own
-- expect: archive	nil	13	cannot write …: it is a file of the host's own
-- expect: archive	nil	13	cannot open …: it is a file of the host's own
-- expect: archive	nil	13	cannot open …: it is a file of the host's own
-- expect: bplist	bplist	Bear	true
-- expect: archive	nil	13	cannot write …: it is a file of the host's own
-- expect: archive	nil	13	cannot write …: it is a file of the host's own
-- expect: archive	nil	13	cannot open …: it is a file of the host's own
-- expect: archive	nil	13	cannot open …: it is a file of the host's own
items:createItem{ name = "Cat" }
timer.sleep(0.01)
defaults:set("theme", "dark")
assert(defaults:synchronize())
print(plist.read(app.container.preferences .. "/cubby.plist").theme, fs.read(documents .. "/items.journal") ~= nil)
-- expect: dark	true
for _, path in ipairs{ documents .. "/items.journal", app.container.preferences .. "/cubby.plist", app.container.preferences .. "/items.plist" } do
  refused("own", fs.write(path, ""))
  refused("own", os.rename(path, app.container.tmp .. "/x"))
end
-- expect: own	nil	13	cannot write …: it is a file of the host's own
-- expect: own	nil	13	cannot write …: it is a file of the host's own
-- expect: own	nil	13	cannot write …: it is a file of the host's own
-- expect: own	nil	13	cannot write …: it is a file of the host's own
-- expect: own	nil	13	cannot write …: it is a file of the host's own
-- expect: own	nil	13	cannot write …: it is a file of the host's own
refused("rename", os.rename(documents, app.container.path .. "/Other"))
-- expect: rename	nil	13	cannot rename …: it holds a file of the host's own
refused("rename", os.rename(items.archivePath, documents .. "/copy"))
-- expect: rename	nil	13	cannot write …: it is a file of the host's own

-- What was named may be read, not written.
local folder = ...
print(#fs.list(folder) > 0, fs.read(folder .. "/household.csv") ~= nil)
-- expect: true	true
refused("named", fs.write(folder .. "/new.txt", "x"))
-- expect: named	nil	13	cannot write …: it may be read, not written; --allow-write DIR grants it
