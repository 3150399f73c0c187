-- A backup on the way to the background: as Library/Scripts/init.lua of a container, or before the rest of a script.
--
--   cubby --container DIR --allow-write BACKUPS run examples/jobs/backup.lua BACKUPS
--
-- The last seven stay. `cubby restore` takes one of them.

local folder, kept = assert((...), "usage: cubby … run examples/jobs/backup.lua BACKUPS"), 7

app:on("didEnterBackground", { id = "backup" }, function()
  local task = app:beginBackgroundTask("backup")
  local name = date():format("yyyy-MM-dd HHmmss.SSS")
  print(assert(app:backup(folder .. "/" .. name)) .. " files in " .. name)
  local backups = assert(fs.list(folder))
  for number = 1, #backups - kept do
    assert(fs.remove(folder .. "/" .. backups[number], { recursive = true }))
  end
  app:endBackgroundTask(task)
end)
