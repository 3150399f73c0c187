-- didCommit: a mirror that hears of commits alone has what the store has, whatever was tried and taken back.

local mirror, causes = {}, {}
local function copy(fields)
  local t = {}
  for name, value in pairs(fields) do t[name] = value end
  return t
end
items:on("didCommit", { id = "mirror" }, function(event)
  causes[event.cause] = (causes[event.cause] or 0) + 1
  assert(event.name == "didCommit" and #event.changes > 0 and event.changes == event.changes)
  for i, change in ipairs(event.changes) do
    if change.kind == "insert" then
      assert(change.new.itemKey == change.itemKey and change.field == nil and change.old == nil)
      table.insert(mirror, change.position, copy(change.new))
    elseif change.kind == "remove" then
      local gone = table.remove(mirror, change.position)
      assert(gone.itemKey == change.itemKey and gone.name == change.name and change.old.name == gone.name)
    elseif change.kind == "move" then
      table.insert(mirror, change.new, table.remove(mirror, change.old))
    else
      for _, fields in ipairs(mirror) do
        if fields.itemKey == change.itemKey then
          assert(fields[change.field] == change.old, change.field)
          fields[change.field] = change.new
        end
      end
    end
  end
end)

local function compare()
  assert(#mirror == #items, #mirror .. " in the mirror, " .. #items .. " in the store")
  for i, item in items:each() do
    for _, field in ipairs{ "itemKey", "name", "serialNumber", "valueInDollars", "dateCreated", "room" } do
      assert(mirror[i][field] == item[field], i .. " " .. field)
    end
  end
end

local path = app.container.tmp .. "/more.json"
fs.write(path, '[{"name":"from a file","room":"Attic"},{"name":"and another"}]')
math.randomseed(18)
local function change()
  local n, choice = #items, math.random(6)
  if choice <= 2 or n == 0 then items:createItem{ name = "item " .. n, room = n % 2 == 0 and "Study" or nil }
  elseif choice == 3 then items:removeItem(items[math.random(n)])
  elseif choice == 4 then items:moveItem(math.random(n), math.random(n))
  elseif choice == 5 then items[math.random(n)].valueInDollars = math.random(100)
  else items[math.random(n)].room = math.random(2) == 1 and "Hall" or nil end
end
local function changes() for _ = 1, math.random(5) do change() end end
for round = 1, 200 do
  local choice = math.random(8)
  if choice == 1 then items:transaction(changes)
  elseif choice == 2 then pcall(items.transaction, items, function() changes() error("rolled back") end)
  elseif choice == 3 then items:dryRun(changes)
  elseif choice == 4 then items:undo()
  elseif choice == 5 then items:redo()
  elseif choice == 6 and round % 4 == 0 then items:import(path)
  elseif choice == 7 then items:query("room == 'Study'"):update{ room = "Cellar", serialNumber = "S" .. round }
  elseif choice == 8 and #items > 10 then items:query("valueInDollars > 90"):remove()
  else changes() timer.sleep(0) end
  timer.sleep(0)
  compare()
end
print(causes.script > 20, causes.undo > 2, causes.redo > 2, causes.import > 2, causes.remote)
-- expect: true	true	true	true	nil
app:off("mirror")

-- didUpdate hears of what a dry run tries, didCommit does not.
local lamp = items:createItem{ name = "Lamp", valueInDollars = 5 }
timer.sleep(0)
local heard = {}
items:on("didUpdate", { group = "hear" }, function(event) heard[#heard + 1] = event.name end)
items:on("didCommit", { group = "hear" }, function(event)
  heard[#heard + 1] = event.name .. " " .. event.cause .. " " .. #event.changes
end)
items:dryRun(function() lamp.valueInDollars = 7 end)
pcall(items.transaction, items, function() lamp.valueInDollars = 8 error("no") end)
print(table.concat(heard, ", "))
-- expect: didUpdate, didUpdate
items:transaction(function() lamp.valueInDollars = 9 lamp.room = "Hall" end)
print(table.concat(heard, ", "))
-- expect: didUpdate, didUpdate, didUpdate, didUpdate, didCommit script 2
app:off{ group = "hear" }

-- The array is what it was for as long as it is held; an event that nobody read has nothing left.
local held, unread
items:on("didCommit", { id = "held" }, function(event)
  if held then unread = event else held = event.changes end
end)
lamp.valueInDollars = 10
timer.sleep(0)
lamp.valueInDollars = 11
timer.sleep(0)
items:removeItem(lamp)
print(#held, held[1].kind, held[1].name, held[1].field, held[1].old, held[1].new, held[2])
-- expect: 1	update	Lamp	valueInDollars	9	10	nil
print(json.encode(held[1].new), #json.encode(held) > 20, (pcall(function() held[1] = 1 end)))
-- expect: 10	true	false
print(pcall(function() return unread.changes end))
-- expect: false	did-commit.lua:102: event.changes was not read while its handlers ran, and is not kept: read it first in the handler
app:off("held")
timer.sleep(0)

-- What a handler changes is a commit of its own, told in turn; without an end it is an error.
local log = {}
items:on("didCommit", { id = "answer" }, function(event)
  log[#log + 1] = event.changes[1].kind
  if #log == 1 then items[1].valueInDollars = 1000 end
end)
items:createItem{ name = "asks" }
timer.sleep(0)
print(table.concat(log, " "))
-- expect: insert update
app:off("answer")
local rounds = 0
items:on("didCommit", { id = "endless" }, function() rounds = rounds + 1 items[1].valueInDollars = rounds end)
items[1].valueInDollars = 0
timer.sleep(0)
print(rounds, app:errors()[1].event, app:errors()[1].message:match("^[^:]+"))
-- expect: 8	didCommit	events are nested more than 8 deep
app:off("endless")
-- expect log: error in the handler didCommit: events are nested more than 8 deep
