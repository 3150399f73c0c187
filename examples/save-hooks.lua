-- Hooks around the moment at which the application goes to the background and saves.
--
--   cubby --container /tmp/save-hooks run examples/save-hooks.lua
--
-- It removes the item and the folder that it made, and nothing else. Put the hooks into Library/Scripts/init.lua of
-- your container, and they are there at every launch.

local backups = app.container.documents .. "/Backups by hook"
local hadBackups = fs.exists(backups)

app:group("backup", function(on)
  -- Before the host saves: the last chance to put things in order.
  on("didEnterBackground", { desc = "count what is kept" }, function(event)
    log.info(("%s: %d items"):format(event.cause, #items))
  end)

  -- After the save: what was saved, and a copy that a mistake can't reach.
  on("didSave", { id = "backup.copy", desc = "a copy a day" }, function(event)
    if not event.ok then return log.error("not saved: " .. tostring(event.error)) end
    assert(fs.makeDirectory(backups))
    local path = backups .. "/" .. date():format("%Y-%m-%d") .. ".json"
    local rows = {}
    for _, item in items:each() do
      rows[#rows + 1] = { name = item.name, valueInDollars = item.valueInDollars, dateCreated = item.dateCreated }
    end
    assert(fs.write(path, json.encode(rows, { pretty = true })))
    log.info("saved " .. event.items .. " items, and a backup of " .. #rows)
  end)
end)

-- A hook may refuse a change.
items:on("willUpdate", { id = "price-floor" }, function(event)
  if event.field == "valueInDollars" and event.new < 0 then event:veto("a value is never negative") end
end)

local bear = items:createItem{ name = "Fluffy Bear", valueInDollars = 78 }
print(select(2, pcall(function() bear.valueInDollars = -1 end)))
print("still worth", bear.valueInDollars)

-- Home: the hooks run, the host saves, the hooks hear of it. Ctrl-Z does the same, and stops the process besides.
app:pressHome()
print(app.state, #fs.list(backups))
app:open()
print(app.state)

for _, hook in ipairs(app:hooks{ group = "backup" }) do print(hook.event, hook.stats.calls, hook.stats.errors) end

-- Leave nothing behind: without the hooks, or the way out would back up once more.
app:off{ group = "backup" }
items:removeItem(bear)
if not hadBackups then
  for _, name in ipairs(fs.list(backups)) do fs.remove(backups .. "/" .. name) end
  fs.remove(backups)
end
