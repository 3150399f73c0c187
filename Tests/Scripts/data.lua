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
