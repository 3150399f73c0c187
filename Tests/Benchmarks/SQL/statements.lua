-- Runs the statements of standard input, one between NULs, TIMES times each: a line of JSON with its title, the
-- milliseconds of the fastest run, and its rows as arrays.
local times = tonumber(arg[1])
for statement in io.read("a"):gmatch("%Z+") do
  local best, found = math.huge, nil
  for _ = 1, times do
    local start = os.clock()
    found = sql(statement)
    best = math.min(best, os.clock() - start)
  end
  local rows = {}
  for number, row in ipairs(found) do
    local values = {}
    for place, column in ipairs(found.columns) do
      local value = row[column]
      if value == nil then value = null end
      values[place] = value
    end
    rows[number] = values
  end
  print(json.encode{ milliseconds = best * 1000, rows = rows })
end
