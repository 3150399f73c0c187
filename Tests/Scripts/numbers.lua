-- Numbers and times: exact, whole, or refused by name.

-- Integers beyond 64 bits.
local wide = json.decode("[18446744073709551615, 1234567890123456789012, -9223372036854775809, 675127116845989888]")
print(wide[1], wide[2], wide[3], wide[4], math.type(wide[4]))
-- expect: 18446744073709551615	1234567890123456789012	-9223372036854775809	675127116845989888	integer
print(json.encode(wide))
-- expect: [18446744073709551615,1234567890123456789012,-9223372036854775809,675127116845989888]
print(wide[1] == plist.integer("18446744073709551615"), wide[1] == wide[2], wide[1] ~= 5)
-- expect: true	false	true
print(wide[1] < wide[2], wide[1] > math.maxinteger, wide[3] < math.mininteger, 1e30 > wide[2], wide[2] <= 1e21, 1/0 > wide[2], wide[3] > -1/0)
-- expect: true	true	true	true	false	true	true
print(wide[1] < 18446744073709551616.0, wide[1] <= 0/0, wide[1] >= 0/0, wide[1] < 18446744073709549568.0)
-- expect: true	false	false	false
for _, operation in ipairs{ function(a) return a + 1 end, function(a) return 2.5 * a end, function(a) return -a end, function(a) return a // a end, function(a) return a & 1 end } do
  print(select(2, pcall(operation, wide[1])))
end
-- expect: numbers.lua:15: arithmetic on 18446744073709551615, which has more than Lua's 64 bits: convert it with :number() to the nearest float, or with tostring
-- expect: numbers.lua:15: arithmetic on 18446744073709551615, which has more than Lua's 64 bits: convert it with :number() to the nearest float, or with tostring
-- expect: numbers.lua:15: arithmetic on 18446744073709551615, which has more than Lua's 64 bits: convert it with :number() to the nearest float, or with tostring
-- expect: numbers.lua:15: arithmetic on 18446744073709551615, which has more than Lua's 64 bits: convert it with :number() to the nearest float, or with tostring
-- expect: numbers.lua:15: arithmetic on 18446744073709551615, which has more than Lua's 64 bits: convert it with :number() to the nearest float, or with tostring
for _, text in ipairs{ "[1, NaN]", "[-Infinity]", "[1e400]", "[1e-400]", "{\n \"x\": 170141183460469231731687303715884105728}" } do
  print(select(2, json.decode(text)))
end
-- expect: not JSON: line 1, column 5: NaN is not a JSON value: JSON has no such number (null stands for no value)
-- expect: not JSON: line 1, column 2: -Infinity is not a JSON value: JSON has no such number (null stands for no value)
-- expect: not JSON: line 1, column 2: “1e400” is larger than any number here
-- expect: not JSON: line 1, column 2: “1e-400” is smaller than any number here, and is not 0
-- expect: not JSON: line 2, column 7: “170141183460469231731687303715884105728” is an integer of more than 128 bits, which would not be exact
-- expect log: json.decode: 1 key more than once in an object, the first "a"; the last value counts (said once)
print(json.decode('{"a":1,"a":2}').a, json.encode(json.decode("[-0.0, 0, 0.1000000000000000055, 1e308]")))
-- expect: 2	[-0.0,0,0.1,1e+308]
print(pcall(json.encode, { a = { 1, 0/0 } }))
-- expect: false	bad argument #1 'value' to 'json.encode' (.a[2]: JSON has no nan)
local lamp = items:createItem{ name = "Lamp", x = 1/0, itemKey = "k" }
print(json.encode(lamp))
-- expect: nil	item 'Lamp', itemKey k, field x: JSON has no inf
local none, err = items:export(app.container.tmp .. "/a.jsonl")
print(none, err.code, err.message)
-- expect: nil	unwritableValue	item 'Lamp', itemKey k, field x: JSON has no inf: nan = "null" writes null (on the command line --nan null)
items:removeItem(lamp)

-- An import counts what JSON has and items do not.
local path = app.container.tmp .. "/b.jsonl"
fs.write(path, '{"name":"A","a":1,"a":2,"tags":[1,null]}\n{"name":"B","d":{"x":null,"y":18446744073709551615},"x":null}\n')
local count, report = items:import(path)
print(count, report.duplicateKeys, report.nulls, items[1].a, items[1].tags[2] == null, items[2].d.x, items[2].d.y, items[2].x)
-- expect: 2	1	2	2	true	nil	18446744073709551615	nil

-- Times: the same digits everywhere.
local moment = date("2026-11-21T04:13:00.1234567Z")
print(moment, moment:format("ss.SSS"), moment:format("SSSSSS"), json.encode({ moment }), moment:inZone("UTC").second, moment.second)
-- expect: 2026-11-21 04:13:00.1234567 +0000	00.123	123457	["2026-11-21T04:13:00.1234567Z"]	0.1234567	0
print(date(tostring(moment)) == moment, date(moment:inZone("Asia/Kathmandu")) == moment, math.type(date(0):inZone("UTC").second))
-- expect: true	true	integer
local wrong = 0
for milliseconds = 1, 999 do
  local text = string.format("%03d", milliseconds)
  for _, made in ipairs{ date("2026-11-25T23:30:26." .. text .. "Z"), date(1795649426 + milliseconds / 1000), date("1906-10-17T00:00:26." .. text .. "Z") } do
    if made:format("ss.SSS") ~= "26." .. text or not tostring(made):find("26." .. text:gsub("0+$", "") .. " ", 1, true) then wrong = wrong + 1 end
  end
end
print(wrong, date(1795649426.123) == date("2026-11-25T23:30:26.123Z"), date(1795649426.123).seconds == 1795649426.123)
-- expect: 0	true	true
print(date("+040000-01-01"), date("-3000-01-01T12:00:00Z"), json.encode({ date("40000-01-01"), date("0001-01-01") }))
-- expect: 40000-01-01 00:00:00 +0000	-3000-01-01 12:00:00 +0000	["+040000-01-01T00:00:00Z","0001-01-01T00:00:00Z"]
print(1/3, 2^53, string.format("%.17g", 1/3))
-- expect: 0.33333333333333	9.007199254741e+15	0.33333333333333331

-- Digits of a file's texts: all of them, or refused by name; what is beyond the reals is not 0.
local path = app.container.tmp .. "/n.csv"
local function imported(kind, text)
  fs.write(path, "name,p\nA," .. text .. "\n")
  local field = kind == "valueInDollars" and kind or "p"
  local done, failure = items:import(path, { map = { p = field }, types = field == "p" and { p = kind } or nil })
  if not done then return (failure.message:gsub("^.-/n.csv, ", "")) end
  local value = items:query("name == 'A'"):first()[field]
  items:query("name == 'A'"):remove()
  return json.encode{ value }, math.type(value) or "wide"
end
items:query():remove()
local nines = ("9"):rep(41)
for _, text in ipairs{ "9007199254740993.0", "0.99999999999999999", "9007199254740993.5", "12345678901234567890.0", "1e-400", nines } do
  for _, kind in ipairs{ "integer", "number", "real", "valueInDollars" } do print(kind, imported(kind, text)) end
end
-- expect: integer	[9007199254740993]	integer
-- expect: number	[9007199254740993]	integer
-- expect: real	row 2: p takes a real, and none is 9007199254740993.0 exactly: a field that is not declared as a real has all digits by types = { ["p"] = "number" }
-- expect: valueInDollars	[9007199254740993]	integer
-- expect: integer	row 2: p takes an integer: "0.99999999999999999" is not one
-- expect: number	[1]	float
-- expect: real	[1]	float
-- expect: valueInDollars	row 2: column 'p': valueInDollars takes an integer: "0.99999999999999999" is not one; a field of its own takes it: map = { ["p"] = "price" }
-- expect: integer	row 2: p takes an integer: "9007199254740993.5" is not one
-- expect: number	row 2: p takes a number, and none is 9007199254740993.5 exactly: a field that is not declared as a number has all digits by types = { ["p"] = "string" }
-- expect: real	row 2: p takes a real, and none is 9007199254740993.5 exactly: a field that is not declared as a real has all digits by types = { ["p"] = "string" }
-- expect: valueInDollars	row 2: column 'p': valueInDollars takes an integer: "9007199254740993.5" is not one; a field of its own takes it: map = { ["p"] = "price" }
-- expect: integer	row 2: p takes an integer: "12345678901234567890.0" is not one
-- expect: number	[12345678901234567890]	wide
-- expect: real	row 2: p takes a real, and none is 12345678901234567890.0 exactly: a field that is not declared as a real has all digits by types = { ["p"] = "number" }
-- expect: valueInDollars	row 2: valueInDollars takes an integer: 1.2345678901234567e+19 is not one; a field of its own takes it: map = { ["p"] = "price" }
-- expect: integer	row 2: p takes an integer: "1e-400" is not one
-- expect: number	row 2: p takes a number: "1e-400" is not one
-- expect: real	row 2: p takes a number: "1e-400" is not one
-- expect: valueInDollars	row 2: column 'p': valueInDollars takes an integer: "1e-400" is not one
-- expect: integer	row 2: p takes an integer: "9999999999999999999999999999999999999999…" is not one
-- expect: number	row 2: p takes a number, and none is 99999999999999999999999999999999999999999 exactly: a field that is not declared as a number has all digits by types = { ["p"] = "string" }
-- expect: real	row 2: p takes a real, and none is 99999999999999999999999999999999999999999 exactly: a field that is not declared as a real has all digits by types = { ["p"] = "string" }
-- expect: valueInDollars	row 2: valueInDollars takes an integer: 1e+41 is not one; a field of its own takes it: map = { ["p"] = "price" }

fs.write(path, "v\n9007199254740993.0\n")
print(sql("select v from csv('" .. path .. "', '{\"types\":{\"v\":\"integer\"}}')")[1].v)
-- expect: 9007199254740993
items:createItem{ name = "Lamp", itemKey = "k", h = "9007199254740993" }
print(select(2, items:declare({ h = "real" }, { convert = true })).code, items[1].h)
-- expect: unfittingItems	9007199254740993
print((tostring(select(2, pcall(items.query, items, "n == 1e-400"))):match("predicate: [^\n]*")))
-- expect: predicate: the number is too small, and is not 0 (column 6)

-- Digits of whole numbers in JSON, in any notation, are those of its text.
path = app.container.tmp .. "/w.json"
for _, types in ipairs{ false, "integer", "number", "string" } do
  items:query():remove()
  fs.write(path, '[{"name":"A","n":9007199254740993.0,"valueInDollars":9007199254740993e0}]')
  assert(items:import(path, types and { types = { n = types } } or nil))
  print(types, items[1].n, math.type(items[1].n), items[1].valueInDollars)
end
-- expect: false	9007199254740993	integer	9007199254740993
-- expect: integer	9007199254740993	integer	9007199254740993
-- expect: number	9007199254740993	integer	9007199254740993
-- expect: string	9007199254740993	nil	9007199254740993
print(json.decode("9007199254740993.0"), json.decode("1.0"), json.decode("9007199254740993.5"))
-- expect: 9007199254740993	1	nil	not JSON: line 1, column 1: “9007199254740993.5” has more digits than a real, which would not be exact
