-- Each save goes to a server, and a message tells of it: before the rest of a script, or from a container's init.lua.
--
--   cubby --container DIR --allow-net HOST:PORT run examples/jobs/push.lua https://HOST:PORT/backups
--
-- The handler only begins the work: a background task lets it go on, and the way out waits for it (--grace).

local address = assert((...), "usage: cubby … run examples/jobs/push.lua URL")

local function push(name)
  local response, err = http.put(address .. "/" .. name, { file = items.archivePath, timeout = 20 })
  if response and response.status >= 300 then return nil, "the server answers " .. response.status end
  return response, err
end

app:on("didSave", { id = "push" }, function(event)
  if not event.ok then return end
  local task = app:beginBackgroundTask("push", function() log.error("no time was left for the backup") end)
  timer.after(0, function()
    local name = date():format("yyyyMMdd-HHmmss.SSS") .. ".archive"
    local sent, err = timer.retry{ times = 3, delay = 1, run = function() return push(name) end }
    if not sent then log.error("no backup at the server: " .. tostring(err)) end
    local text = sent and "pushed " .. name or "not pushed: " .. tostring(err)
    http.post(address .. "/messages", { json = { text = text, items = #items } })
    app:endBackgroundTask(task)
  end)
end)
