-- Property lists in both forms: what they hold, and what they refuse.
local value = {
  name = "Bär", count = 5, real = 5.0, on = true, when = date("2014-07-02T13:20:00Z"), raw = data("\0\255"),
  list = { 1, { deep = "x" } }, empty = {}, none = plist.dictionary{},
  wide = plist.integer("18446744073709551615"),
}
for _, format in ipairs{ "binary", "xml" } do
  local back = assert(plist.decode(plist.encode(value, { format = format })))
  print(format, back.name, back.count, back.real, back.on, back.when == value.when, back.raw == value.raw, back.list[2].deep, #back.empty, back.wide == value.wide)
  assert(plist.encode(back) == plist.encode(value))
end
-- expect: binary	Bär	5	5.0	true	true	true	x	0	true
-- expect: xml	Bär	5	5.0	true	true	true	x	0	true

-- What only the binary form has.
local binary = plist.decode(plist.encode{ null, plist.set{ 1, 2 }, plist.uid(7), plist.integer("-170141183460469231731687303715884105728") })
print(binary[1], #binary[2], binary[3], binary[4], binary[3] == plist.uid(7))
-- expect: null	2	UID 7	-170141183460469231731687303715884105728	true
assert(plist.encode(binary) == plist.encode(plist.decode(plist.encode(binary))))
print(plist.integer("5"), plist.integer("18446744073709551615") > 5, plist.integer("18446744073709551615"):number())
-- expect: 5	true	1.844674407371e+19

-- Files.
local path = app.container.tmp .. "/a.plist"
print(plist.write(value, path, { format = "xml" }), fs.read(path):sub(1, 5), plist.read(path).count)
-- expect: true	<?xml	5
print(select(2, plist.read(app.container.tmp .. "/none.plist")).code)
-- expect: 2
fs.write(path, "bplist00junk")
local nothing, err = plist.read(path)
print(nothing, err.domain, err.code, err.path == path)
-- expect: nil	NSCocoaErrorDomain	3840	true
print(plist.decode("<plist><array><integer>x</integer></array></plist>"))
-- expect: nil	“x” is not an integer from -2^63 to 2^64-1 (line 1)	3840

-- Refusals say where.
local cycle = {}
cycle.again = { cycle }
local wide = {}
for _ = 1, 30 do wide = { wide, wide } end
for _, call in ipairs{
  function() plist.encode({ items = { 1, 2, { f = print } } }) end,
  function() plist.encode(print) end,
  function() plist.encode({ a = { coroutine.create(print) } }) end,
  function() plist.encode({ a = "\255" }) end,
  function() plist.encode({ 1, x = 2 }) end,
  function() plist.encode({ [print] = 2 }) end,
  function() plist.encode({ 1, nil, 3 }) end,
  function() plist.encode({ a = { null } }, { format = "xml" }) end,
  function() plist.encode({ plist.set{ 1 } }, { format = "xml" }) end,
  function() plist.encode({ a = plist.integer("-170141183460469231731687303715884105728") }, { format = "xml" }) end,
  function() plist.encode({}, { format = "json" }) end,
  function() plist.encode({ image = io.stdout }) end,
  function() plist.uid(-1) end,
  function() plist.integer("x") end,
} do print((select(2, pcall(call)):gsub("^[^:]*:%d+: ", ""):gsub("%(string, number.*", "…"))) end
-- expect: bad argument #1 'value' to 'plist.encode' (root.items[3].f: a function is not a property-list value …
-- expect: bad argument #1 'value' to 'plist.encode' (root: a function is not a property-list value …
-- expect: bad argument #1 'value' to 'plist.encode' (root.a[1]: a thread is not a property-list value …
-- expect: bad argument #1 'value' to 'plist.encode' (root.a: the string is not UTF-8 text (data(…) holds other bytes))
-- expect: bad argument #1 'value' to 'plist.encode' (root: the table has both array elements and the key x)
-- expect: bad argument #1 'value' to 'plist.encode' (root: the dictionary key a function cannot be kept: a function is not a property-list value …
-- expect: bad argument #1 'value' to 'plist.encode' (root[2]: nil is not a property-list value)
-- expect: bad argument #1 'value' to 'plist.encode' (root.a[1]: the XML form has no null; the binary form has)
-- expect: bad argument #1 'value' to 'plist.encode' (root[1]: the XML form has no sets; the binary form has)
-- expect: bad argument #1 'value' to 'plist.encode' (root.a: the XML form holds integers of 64 bits; -170141183460469231731687303715884105728 needs more)
-- expect: bad argument #2 'options' to 'plist.encode' (option 'format': "binary" or "xml" expected, got "json")
-- expect: bad argument #1 'value' to 'plist.encode' (root.image: a userdata is not a property-list value …
-- expect: bad argument #1 'value' to 'plist.uid' (an integer from 0 to 4294967295 expected)
-- expect: bad argument #1 'digits' to 'plist.integer' (decimal digits of an integer of 128 bits expected)
print((select(2, pcall(plist.encode, cycle)):match("%(root.again%[1%].again.*(the table is nested deeper.*)%)")))
-- expect: the table is nested deeper than 512 levels, or contains itself

-- XML has whole seconds: what is lost is said.
print(plist.decode(plist.encode({ date("2026-01-01T00:00:00.25Z") }, { format = "xml" }))[1])
-- expect: 2026-01-01 00:00:00 +0000
-- expect log: 1 date lost its fraction of a second, which XML does not have; the binary form and JSON do

-- What the text of a property list has, and the value does not show, is said.
local twice = "<plist version='1.0'>\n<dict><key>a</key><integer>1</integer><key>a</key><integer>2</integer></dict></plist>"
local path = app.container.tmp .. "/twice.plist"
assert(fs.write(path, twice))
print(plist.read(path).a, plist.decode(twice).a, plist.decode("{ a = x; a = y; b = z; b = z; }").a)
-- expect: 2	2	y
-- expect log: /twice.plist, line 2: the key “a” stands twice in a dictionary; the last counts
-- expect log: plist.decode, line 2: the key “a” stands twice in a dictionary; the last counts
-- expect log: stands twice in a dictionary; the last counts (the first of several findings)

-- Characters that XML does not have, and Apple's readers and Cubby take; none takes NUL.
for _, value in ipairs{ { a = "x\1y" }, { ["\u{FFFE}"] = 1 }, { "\u{FFFF}" } } do
  local back = plist.decode(plist.encode(value, { format = "xml" }))
  print(back.a == "x\1y" or back["\u{FFFE}"] == 1 or back[1] == "\u{FFFF}")
end
-- expect: true
-- expect: true
-- expect: true
-- expect log: XML does not have the character U+0001, which is in “x\1y”: Apple's readers and Cubby take it
-- expect log: XML does not have the character U+FFFE
-- expect log: XML does not have the character U+FFFF
print((select(2, pcall(plist.encode, { a = "x\0y" }, { format = "xml" })):match("%(root.a: (.*)%)")))
-- expect: the XML form has no NUL character; the binary form has
