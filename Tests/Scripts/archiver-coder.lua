-- Every call of NSCoder's that the books name, with a key and without one: what goes in comes out.
local keyed = {
  { "encodeObject", "decodeObject", { 1, "a", true }, function(v) return #v == 3 and v[2] == "a" and v[3] == true end },
  { "encodeBool", "decodeBool", true },
  { "encodeInt", "decodeInt", -40 },
  { "encodeInteger", "decodeInteger", math.maxinteger },
  { "encodeInt32", "decodeInt32", 2147483647 },
  { "encodeInt64", "decodeInt64", math.mininteger },
  { "encodeFloat", "decodeFloat", 0.5 },
  { "encodeDouble", "decodeDouble", 0.1 },
  { "encodeBytes", "decodeBytes", "\0\255" },
  { "encodePropertyList", "decodePropertyList", { tags = { 1 } }, function(v) return v.tags[1] == 1 end },
}
local writer = archiver.writer()
for _, call in ipairs(keyed) do writer[call[1]](writer, call[3], call[1]) end
local reader = archiver.reader(writer:finishEncoding())
for _, call in ipairs(keyed) do
  local value = reader[call[2]](reader, call[1])
  local isRight = call[4] and call[4](value) or not call[4] and value == call[3]
  assert(isRight and reader:containsValue(call[1]), call[1] .. " " .. call[2])
end
print(#keyed, reader.allowsKeyedCoding, reader:containsValue("absent"), reader:decodeObject("absent"))
-- expect: 10	true	false	nil
print(reader:decodeObjectOfClass("NSArray", "encodeObject")[2], reader:decodeObjectOfClasses({ "NSDictionary", "NSNumber", "NSArray" }, "encodePropertyList").tags[1])
-- expect: a	1
print(reader:decodeInt("absent"), reader:decodeBool("absent"), reader:decodeDouble("absent"), reader:decodeBytes("absent"))
-- expect: 0	false	0.0	nil
print(reader:finishDecoding())
-- expect: true

-- Without keys: in the same order.
local shared = {}
local unkeyed = {
  { function(w) w:encodeRootObject({ shared }) end, function(r) return #r:decodeObject() == 1 end },
  { function(w) w:encodeObject("text") end, function(r) return r:decodeObject() == "text" end },
  { function(w) w:encodeConditionalObject(shared) end, function(r) return type(r:decodeObject()) == "table" end },
  { function(w) w:encodeConditionalObject({}) end, function(r) return r:decodeObject() == nil end },
  { function(w) w:encodeBycopyObject(1) end, function(r) return r:decodeObject() == 1 end },
  { function(w) w:encodeByrefObject(2.5) end, function(r) return r:decodeObject() == 2.5 end },
  { function(w) w:encodeDataObject("ab") end, function(r) return r:decodeDataObject() == data("ab") end },
  { function(w) w:encodeBytes("\1\2") end, function(r) return r:decodeBytes() == "\1\2" end },
  { function(w) w:encodeValueOfType("q", math.mininteger) end, function(r) return r:decodeValueOfType("q") == math.mininteger end },
  { function(w) w:encodeValueOfObjCType("Q", plist.integer("18446744073709551615")) end, function(r) return tostring(r:decodeValueOfObjCType("Q")) == "18446744073709551615" end },
  { function(w) w:encodeValuesOfTypes("id@", 7, 0.25, "x") end, function(r) local a, b, c = r:decodeValuesOfTypes("id@") return a == 7 and b == 0.25 and c == "x" end },
  { function(w) w:encodeValuesOfObjCTypes("B*", true, "t") end, function(r) local a, b = r:decodeValuesOfObjCTypes("B*") return a == true and b == "t" end },
  { function(w) w:encodeArrayOfType("s", { 1, 2, 3 }) end, function(r) return table.concat(r:decodeArrayOfType("s", 3), ",") == "1,2,3" end },
  { function(w) w:encodeArrayOfObjCType("f", { 0.5 }) end, function(r) return r:decodeArrayOfObjCType("f", 1)[1] == 0.5 end },
  { function(w) w:encodePropertyList({ a = 1 }) end, function(r) return r:decodePropertyList().a == 1 end },
}
writer = archiver.writer({ format = "xml" })
for _, call in ipairs(unkeyed) do call[1](writer) end
reader = archiver.reader(writer:finishEncoding())
for index, call in ipairs(unkeyed) do assert(call[2](reader), "call " .. index) end
print(#unkeyed, reader:decodeObject())
-- expect: 15	nil	there are no more values without a key	4865

-- What a script does wrong is raised where it does it.
local w = archiver.writer()
for _, call in ipairs{
  function() w:encodeInt(3000000000, "n") end,
  function() w:encodeInteger(1.5, "n") end,
  function() w:encodeObject(print, "n") end,
  function() w:encodeObject({ a = { b = io.stdout } }, "n") end,
  function() w:encodeObject("\255", "n") end,
  function() w:encodeObject(setmetatable({}, {}), "n") end,
  function() w:encodeInt(1, "n") w:encodeInt(2, "n") end,
  function() w:encodeValueOfType("c", 300) end,
  function() w:encodeValueOfType("%", 300) end,
  function() w:encodePropertyList({ x = { print } }, "p") end,
  function() w:decodeObject("n") end,
  function() archiver.class("NSArray") end,
  function() archiver.class("A", { super = {} }) end,
  function() archiver.unarchivedObject({ "NSObject" }, "") end,
} do print((select(2, pcall(call)):gsub("^[^:]*:%d+: ", ""))) end
-- expect: bad argument #1 'value' to 'KeyedArchiver:encodeInt' (3000000000 does not fit 32 bits; encodeInteger takes 64)
-- expect: bad argument #1 'value' to 'KeyedArchiver:encodeInteger' (integer expected, got 1.5)
-- expect: bad argument #1 'object' to 'KeyedArchiver:encodeObject' (n: a function cannot be archived)
-- expect: bad argument #1 'object' to 'KeyedArchiver:encodeObject' (n.a.b: a userdata cannot be archived)
-- expect: bad argument #1 'object' to 'KeyedArchiver:encodeObject' (n: the string is not UTF-8 text (data(…) holds other bytes))
-- expect: bad argument #1 'object' to 'KeyedArchiver:encodeObject' (n: a table with a metatable of its own cannot be archived: declare its class by archiver.class)
-- expect: the key “n” is encoded twice in one object; keys are unique within an object
-- expect: 300 is not a value of the C type “c”
-- expect: the C type “%” cannot be archived; the types are B c C s S i I l L q Q f d @ *
-- expect: bad argument #1 'value' to 'KeyedArchiver:encodePropertyList' (root.x[1]: a function is not a property-list value (string, number, boolean, date, data, array, dictionary))
-- expect: KeyedArchiver has no property or method 'decodeObject'; did you mean 'encodeObject'?
-- expect: bad argument #1 'name' to 'archiver.class' (NSArray is Foundation's, and comes as a value of Lua's)
-- expect: bad argument #2 'options' to 'archiver.class' (option 'super': a class declared by archiver.class expected)
-- expect: bad argument #1 'classes' to 'archiver.unarchivedObject' (allowing NSObject would allow every class; name the classes that are expected)

-- What the archive is to blame for is nil and an error.
local bytes = archiver.archivedData("text")
local r = archiver.reader(bytes)
print(r:decodeInt("root"))
-- expect: nil	root: the value is not a number	4864
print(select(2, r:decodeObject("root")).code, r.error.domain, select(2, r:finishDecoding()).code)
-- expect: 4864	NSCocoaErrorDomain	4864
r = archiver.reader(bytes, { failurePolicy = "setErrorAndReturn" })
print(r:decodeInt("root"), r:decodeObject("root"), r.error)
-- expect: 0	nil	root: the value is not a number
print(archiver.reader("nothing"))
-- expect: nil	this is neither a binary nor an XML property list (at byte 0)	3840

-- A URL with more than its text stays the object that it is, so that a script writes all of it back.
local file = archiver.object("NSURL", { ["NS.relative"] = "file:///a", ["NS.minimalBookmarkData"] = data("a bookmark") })
local kept = archiver.reader(archiver.archivedData({ file })):decodeObject("root")[1]
kept = archiver.reader(archiver.archivedData(kept)):decodeObject("root")
print(kept.className, kept["NS.relative"], kept["NS.minimalBookmarkData"] == data("a bookmark"))
-- expect: NSURL	file:///a	true

-- A single has a range.
for _, number in ipairs{ 1e300, -1e300, 1e-60 } do
  print((select(2, pcall(function() archiver.writer():encodeFloat(number, "f") end)):match("%((%S+ is beyond.*precision)")))
end
-- expect: 1e+300 is beyond the range of single precision
-- expect: -1e+300 is beyond the range of single precision
-- expect: 1e-60 is beyond the range of single precision
