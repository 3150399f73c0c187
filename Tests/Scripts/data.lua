-- data, uuid, null: values, compared by what they hold.

local d = data("\0\1ab\xff")
print(#d, d:bytes() == "\0\1ab\xff", d:base64(), d)
-- expect: 5	true	AAFhYv8=	<5 bytes: 00016162ff>
print(data.fromBase64("AAFhYv8=") == d, data("a") == data("b"), data("") == data(""))
-- expect: true	false	true
local none, err = data.fromBase64("*")
print(none, err.domain, err.code, tostring(err))
-- expect: nil	CubbyErrorDomain	invalidBase64	the text is not Base64
print(pcall(data, 3))
-- expect: false	bad argument #1 'bytes' to 'data' (string expected, got number)
print(#uuid(), uuid() ~= uuid(), uuid():match("^%x+%-%x+%-4%x+%-%x+%-%x+$") ~= nil, uuid() == uuid():upper())
-- expect: 36	true	true	false
print(null, null == null, null == nil, null and "true as a condition")
-- expect: null	true	false	true as a condition
print(require("cubby").null == null, require("cubby").items == items)
-- expect: true	true
for _, name in ipairs{ "app", "items", "images", "image", "predicate", "date", "data", "uuid", "fs", "timer", "json", "csv", "log" } do
  if require("cubby")[name] == nil or _G[name] ~= require("cubby")[name] then print("missing", name) end
end

-- Bytes for people.
io.write(data("bplist00\0\255 and more, so that there are two lines"):dump())
-- expect: 00000000  62 70 6c 69 73 74 30 30  00 ff 20 61 6e 64 20 6d  |bplist00.. and m|
-- expect: 00000010  6f 72 65 2c 20 73 6f 20  74 68 61 74 20 74 68 65  |ore, so that the|
-- expect: 00000020  72 65 20 61 72 65 20 74  77 6f 20 6c 69 6e 65 73  |re are two lines|
io.write(data(("x"):rep(5000)):dump(16, 3))
-- expect: 00000010  78 78 78                                          |xxx|
-- expect: … and 4,981 more bytes: dump(19)
print(#data(("x"):rep(5000)):dump(), data(""):dump() == "", data("a"):dump(1) == "")
-- expect: 20259	true	true
print(pcall(data("abc").dump, data("abc"), 4))
-- expect: false	bad argument #1 'from' to 'data:dump' (an offset from 0 to 3 expected, got 4)
print(pcall(data("abc").dump, data("abc"), 0, -1))
-- expect: false	bad argument #2 'length' to 'data:dump' (a number of bytes from 0 to 1,048,576 expected, got -1)

-- Base64 is whole groups of its digits, with white space between them.
for _, text in ipairs{ "--__YWJj", "YQ==YWJj", "YWJj!?äYWJj", "----", "YQ", "YQ=", "YQ===", "=", "YWJj\0" } do
  local bytes, err = data.fromBase64(text)
  if bytes or err.code ~= "invalidBase64" then print("taken", text, bytes) end
end
print(data.fromBase64("YW\r\n Jj\tYQ ==\n"):bytes(), #data.fromBase64(""))
-- expect: abca	0
