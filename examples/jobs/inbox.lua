-- A service with an inbox: each file that comes is imported, and then lies in `done`, or in `failed` beside the reason.
--
--   cubby --container DIR --allow-write INBOX run examples/jobs/inbox.lua INBOX KEY
--
-- A sender writes a file under a name with a dot before it, and renames it when it is whole. SIGTERM ends the service.

local inbox, key = ...
assert(key, "usage: cubby … run examples/jobs/inbox.lua INBOX KEY")
for _, folder in ipairs{ "done", "failed" } do assert(fs.makeDirectory(inbox .. "/" .. folder)) end

local function take(name)
  local path = inbox .. "/" .. name
  local count, report = items:import(path, { key = key, update = true })
  local folder = count and "done" or "failed"
  if not count then assert(fs.write(inbox .. "/failed/" .. name .. ".txt", tostring(report) .. "\n")) end
  assert(fs.move(path, inbox .. "/" .. folder .. "/" .. name))
  log[count and "info" or "error"](name .. ": " .. tostring(report))
end

timer.every(0.5, function()
  for _, name in ipairs(assert(fs.list(inbox))) do
    if name:sub(1, 1) ~= "." and not fs.isDirectory(inbox .. "/" .. name) then take(name) end
  end
end)

app:run()
