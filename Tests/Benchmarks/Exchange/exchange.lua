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
  flights = function() return items:import(folder .. "/flights.csv", { null = "NA" }) end,
  flightsRow = function()
    return items:import(folder .. "/flights.csv", { null = "NA", transform = function(row) return row end })
  end,
  -- The delays by airline, whose names are in another file, and by origin and month.
  flightsJob = function()
    assert(items:import(folder .. "/flights.csv", { null = "NA" }))
    local airlines = sql(([[
      select a.name, count(*), avg(f.dep_delay), avg(f.arr_delay) from items f
      left join csv('%s/airlines.csv') a on a.carrier = f.carrier group by a.name]]):format(folder))
    local months = sql("select origin, month, count(*), avg(air_time) from items group by origin, month")
    assert(#airlines == 16 and #months == 36)
    return true
  end,
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
