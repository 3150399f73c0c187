-- A nightly import: rows that are new become items, rows that changed update theirs, and rows that are no items go into
-- a file of their own. The same file again changes nothing.
--
--   cubby --container DIR run examples/jobs/nightly-import.lua FILE KEY [NAME]
--
-- KEY is the column that tells rows apart, NAME the one that becomes the items' name. The exit status is 0, 2 when rows
-- were rejected, 1 when nothing was imported.

local path, key, name = ...
assert(key, "usage: cubby --container DIR run examples/jobs/nightly-import.lua FILE KEY [NAME]")

local rejects = app.container.documents .. "/rejected.csv"
local _, report = assert(items:import(path, {
  key = key,
  update = true,
  encoding = "auto",
  map = name and { [name] = "name" } or {},
  onError = "skip",
  rejects = rejects,
}))
print(report)

if report.rejected > 0 then
  log.warning("correct the rows in " .. rejects .. " and import them")
  os.exit(2)
end
