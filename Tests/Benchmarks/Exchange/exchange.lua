-- Run by exchange.py: FOLDER STEP. Prints the step's seconds by the clock on the wall.
local folder, step = arg[1], arg[2]
local columns = { "accession_number", "name", "medium", "creators", "department", "classification", "credit", "acquired", "width", "height" }
local again = { key = "accession_number", update = true }
local steps = {
  text = function() return items:import(folder .. "/rows.csv", { types = "text" }) end,
  csv = function() return items:import(folder .. "/rows.csv") end,
  again = function() return items:import(folder .. "/rows.csv", again) end,
  jsonl = function() return items:export(folder .. "/out.jsonl", { columns = columns }) end,
  sqliteOut = function() return items:export(folder .. "/out.sqlite", { columns = columns }) end,
  sqlite = function() return items:import(folder .. "/out.sqlite") end,
}
local function run(name)
  local begin = date()
  assert(steps[name]())
  print(name, date() - begin)
end
run(step)
if step == "csv" then
  for _, name in ipairs{ "again", "jsonl", "sqliteOut" } do run(name) end
end
