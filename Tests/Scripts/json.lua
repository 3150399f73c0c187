-- JSON.

print(json.encode({ name = "Bear", tags = { "gift", "1925" }, empty = {}, yes = true, n = 1, x = 1.5 }))
-- expect: {"empty":[],"n":1,"name":"Bear","tags":["gift","1925"],"x":1.5,"yes":true}
print(json.encode({ 1, null, "é\n\"\\" }), json.encode("a/b"), json.encode(math.maxinteger))
-- expect: [1,null,"é\n\"\\"]	"a/b"	9223372036854775807
print(json.encode({ at = date(0), bytes = data("ab") }))
-- expect: {"at":"1970-01-01T00:00:00Z","bytes":"YWI="}
local v = json.decode('{"a":[1,2.5,"x",null,true],"b":{},"c":9007199254740993}')
print(#v.a, math.type(v.a[1]), math.type(v.a[2]), v.a[3], v.a[4] == null, v.a[5], next(v.b), v.c)
-- expect: 5	integer	float	x	true	true	nil	9007199254740993
print(json.encode(json.decode('{"b":{}}')))
-- expect: {"b":{}}
print(json.encode({ a = 1 }, { pretty = true }))
-- expect: {
-- expect:   "a" : 1
-- expect: }
local none, err = json.decode("{")
print(none, err.code, err.message ~= "")
-- expect: nil	invalidJSON	true
for _, text in ipairs{ "", "{ \"a\": }", "[1,\n  x]", "{\"a\" 1}", "[1, 2", "[1] 2", "\"é\" x", "{'a': 1}", "[tru]", "[01]" } do
  print(select(2, json.decode(text)))
end
-- expect: not JSON: line 1, column 1: the JSON text ends where a value is expected
-- expect: not JSON: line 1, column 8: this is not a JSON value
-- expect: not JSON: line 2, column 3: this is not a JSON value
-- expect: not JSON: line 1, column 6: after the key “a” a colon is expected
-- expect: not JSON: line 1, column 6: the JSON text ends inside a container
-- expect: not JSON: line 1, column 5: something follows the one value of a JSON text
-- expect: not JSON: line 1, column 5: something follows the one value of a JSON text
-- expect: not JSON: line 1, column 2: a key in JSON is a string in quotes
-- expect: not JSON: line 1, column 2: this is not a JSON value
-- expect: not JSON: line 1, column 2: “01” is not a number
for _, text in ipairs{ "[1, 2,]", "{\"a\": 1,\n }", "[[1,] ,2]", "[,]", "[1,,2]" } do print(select(2, json.decode(text))) end
-- expect: not JSON: line 1, column 7: after a comma another value is expected, not the end
-- expect: not JSON: line 2, column 2: after a comma another value is expected, not the end
-- expect: not JSON: line 1, column 5: after a comma another value is expected, not the end
-- expect: not JSON: line 1, column 2: this is not a JSON value
-- expect: not JSON: line 1, column 4: this is not a JSON value
print(json.decode('[",]", "\\",]", {"a,}": 1}]')[2])
-- expect: ",]
print(pcall(json.encode, print))
-- expect: false	bad argument #1 'value' to 'json.encode' (a function is not a property-list value (string, number, boolean, date, data, array, dictionary))
print(pcall(json.encode, math.huge))
-- expect: false	bad argument #1 'value' to 'json.encode' (JSON has no inf)
print(pcall(json.encode, "\xff"))
-- expect: false	bad argument #1 'value' to 'json.encode' (the string is not UTF-8 text (data(…) holds other bytes))
print(pcall(json.encode, {}, { prety = true }))
-- expect: false	bad argument #2 'options' to 'json.encode' (unknown option 'prety'; did you mean 'pretty'?)
