-- fs.watch calls a function with each change, one after another, when what was written has settled.

local inbox = app.container.tmp .. "/inbox"
assert(fs.makeDirectory(inbox))
local seen = {}
local function name(path) return (path:gsub("^.*/", "")) end
local w = fs.watch(inbox, { delay = 0.02 }, function(event) seen[#seen + 1] = event.kind .. " " .. name(event.path) end)
local function wait(count)
  while #seen < count do timer.sleep(0.005) end
  print(table.concat(seen, ", "))
  seen = {}
end
assert(fs.write(inbox .. "/a.txt", "one"))
wait(1)
-- expect: created a.txt
assert(fs.write(inbox .. "/a.txt", "two"))
wait(1)
-- expect: changed a.txt
assert(fs.move(inbox .. "/a.txt", inbox .. "/b.txt"))
wait(1)
-- expect: moved b.txt
assert(fs.remove(inbox .. "/b.txt"))
wait(1)
-- expect: removed b.txt
print(name(w.path), w.folders, w.isPaused, w.isCancelled, (tostring(w):gsub("^Watch%(.*/", "")))
-- expect: inbox	1	false	false	inbox, watch.lua:7)

-- A paused watch keeps what comes; a call that waits is not overtaken.
w:pause()
assert(fs.write(inbox .. "/c.txt", "3"))
timer.sleep(0.05)
print(#seen, w.isPaused)
-- expect: 0	true
w:resume()
wait(1)
-- expect: created c.txt
w:cancel()
local calls, most = 0, 0
local slow = fs.watch(inbox, { delay = 0.01, existing = true }, function(event)
  calls = calls + 1
  local mine = calls
  timer.sleep(0.01)
  most = math.max(most, calls - mine)
  seen[#seen + 1] = name(event.path)
end)
for i = 1, 3 do assert(fs.write(inbox .. "/d" .. i, "")) end
while #seen < 4 do timer.sleep(0.005) end
table.sort(seen)
print(table.concat(seen, " "), most)
-- expect: c.txt d1 d2 d3	0
slow:cancel()
seen = {}

-- A function that fails is reported; three times in a row pause the watch, with what comes kept.
local fails = true
local failing
failing = fs.watch(inbox, { delay = 0.01 }, function(event)
  if fails then error("not " .. name(event.path)) end
  seen[#seen + 1] = name(event.path)
end)
for i = 1, 4 do
  assert(fs.write(inbox .. "/e" .. i, ""))
  timer.sleep(0.03)
end
while not failing.isPaused do timer.sleep(0.005) end
-- expect log: not e1
-- expect log: not e2
-- expect log: not e3
-- expect log: failed 3 times in a row and is paused: w:resume() takes it up again
print(app:errors()[1].event, app:errors()[1].hook:match("^fs.watch"))
-- expect: watch	fs.watch
fails = false
failing:resume()
wait(1)
-- expect: e4
failing:cancel()

-- A removed folder ends its watch, and says so.
local ended
local gone = fs.watch(inbox, function(event) ended = event end)
assert(fs.remove(inbox, { recursive = true }))
while not (gone.isCancelled and ended and ended.path == inbox) do timer.sleep(0.005) end
print(ended.kind, ended.isDirectory, ended.closed, ended.from, ended.reason, (tostring(ended):gsub("/.*/", "")))
-- expect: removed	true	true	nil	nil	removed inbox

-- What cannot be watched is an error of the system, what is asked wrongly one of the script.
local none, err = fs.watch(inbox, print)
print(none, err.code, name(err.path))
-- expect: nil	2	inbox
print((select(2, fs.watch("/", print)).message:match("it is outside.*")))
-- expect: it is outside the sandbox; --allow-read DIR grants it
for _, call in ipairs{ { inbox }, { inbox, {} }, { inbox, print, print }, { inbox, { deep = true }, print },
  { inbox, { delay = -1 }, print }, { 1, print } } do
  print((select(2, pcall(fs.watch, table.unpack(call)))))
end
-- expect: bad argument #2 'options' to 'fs.watch' (table of options or function expected, got no value)
-- expect: bad argument #3 'handler' to 'fs.watch' (function expected, got no value)
-- expect: bad argument #2 'options' to 'fs.watch' (options before the function expected)
-- expect: bad argument #2 'options' to 'fs.watch' (unknown option 'deep'; there are 'recursive', 'delay', 'closed', 'hidden', 'existing')
-- expect: bad argument #2 'options' to 'fs.watch' (option 'delay': 0 to 3600 expected, got -1.0)
-- expect: bad argument #1 'path' to 'fs.watch' (string expected, got number)
