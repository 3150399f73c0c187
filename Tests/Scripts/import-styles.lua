-- Cells in several styles stay the texts that they are, and are said with the option that reads them.
local tmp = app.container.tmp .. "/"
local number = 0
local function import(text, options)
  number = number + 1
  local path = tmp .. "s" .. number .. ".csv"
  fs.write(path, text)
  local count, report = items:import(path, options)
  if not count then return print((report.message:gsub(tmp:gsub("%p", "%%%0"), ""))) end
  for _, remark in ipairs(report.remarks) do print(remark) end
  return items[#items]
end

-- One sign before three digits shows nothing.
local last = import("name,w\nA,1.250\nB,2\nC,3.500\n")
-- expect: w: "1.250" may have decimals or thousands behind its point, and no cell shows which: text; give decimal = "comma" or "point"
print(last.w)
-- expect: 3.500
last = import("name,w\nD,1.250\nE,2\nF,3.500\n", { decimal = "point" })
-- expect: w: numbers, but not all in one usual form ("1.250"): text; give types = { ["w"] = "real" }
print(import("name,w1\nA,1.250\nB,2\nC,3.500\n", { decimal = "point", types = { w1 = "real" } }).w1)
-- expect: 3.5
import("name,w2\nA,1.250\nB,2\n", { types = { w2 = "real" } })
-- expect: s4.csv: w2: "1.250" may have decimals or thousands behind its point, and no cell shows which: text; give decimal = "comma" or "point"
print(import("name;Preis\nSofa;1.234 €\nLampe;65 €\n", { decimal = "comma" }).Preis, items[#items - 1].Preis)
-- expect log: s5.csv: ";"; Preis integer (decimal comma, thousands by points, without €); other columns are text
-- expect: 65	1234

-- A kind that is given takes off what the report counts.
last = import("name,n,p\nA,$5,12%\nB,€6,0.12\n", { types = { n = "integer", p = "real" } })
-- expect: n: 1 number with $, read without it
-- expect: p: 1 number with %, read without it
-- expect: n: 1 number with €, read without it
print(last.n, last.p)
-- expect: 6	0.12
items:declare{ day = { kind = "date", format = "day" } }
print(import("name,day\nA,2024-01-31T23:30:00-05:00\nB,2024-01-31\n").day)
-- expect: day: 1 date lost its time, and is the day in UTC (2024-02-01T04:30:00Z)
-- expect: 2024-01-31

-- Whole numbers have all digits in any notation; -0 is a real.
print(json.decode("123456789012345678e3") == json.decode("123456789012345678000"), json.decode("9007199254740993e1"))
-- expect: true	90071992547409930
print(json.decode("1e23") == json.decode("100000000000000000000000"), json.decode("-0"), json.encode(-0.0))
-- expect: false	-0.0	-0.0
items:createItem{ name = "Z", z = -0.0 }
print(items:declare{ z = "integer" })
-- expect: nil	1 item does not fit z, an integer: -0.0 in "Z"; nothing was declared: change them, or convert what can be (convert = true)
