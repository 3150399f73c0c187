-- Dictionaries with keys of any kind: what has other keys than texts keeps them.
local when = date("2014-07-02T13:20:00Z")
local value = plist.dictionary{ [1] = "one", [2] = "two", [true] = "yes", [1.5] = "half", text = "text" }
value[when] = "a date"
value[data("ab")] = "data"
value[plist.integer("18446744073709551616")] = "wide"
local back = assert(plist.decode(plist.encode(value)))
local count = 0
for key, entry in pairs(back) do
  count = count + 1
  if tostring(key) == tostring(when) then assert(entry == "a date") end
end
print(count, back[1], back[2], back[true], back[1.5], back.text)
-- expect: 8	one	two	yes	half	text
assert(plist.encode(back) == plist.encode(plist.decode(plist.encode(back))))

-- An array and a dictionary whose keys are 1 to n are two values.
local array, dictionary = plist.encode{ "a", "b" }, plist.encode(plist.dictionary{ "a", "b" })
print(array == dictionary, plist.encode(plist.decode(array)) == array, plist.encode(plist.decode(dictionary)) == dictionary)
-- expect: false	true	true
print(#plist.decode(plist.encode{ [5] = "five" }), plist.decode(plist.encode{ [5] = "five" })[5])
-- expect: 0	five

-- XML and plain JSON have texts alone.
print((select(2, pcall(plist.encode, { a = { [5] = 1 } }, { format = "xml" })):gsub("^.-%(", "(")))
-- expect: (root.a: the XML form has only texts as keys, not the integer 5; the binary form has others)
print((select(2, pcall(json.encode, { [5] = 1, x = 2 })):match("only texts as keys") ~= nil))
-- expect: true

-- Both normalization forms of a name are two names.
local nfc, nfd = "\u{e9}", "e\u{301}"
local both = { [nfc] = 1, [nfd] = 2 }
for _, format in ipairs{ "binary", "xml" } do
  local again = plist.decode(plist.encode(both, { format = format }))
  print(format, again[nfc], again[nfd])
end
-- expect: binary	1	2
-- expect: xml	1	2
local again = json.decode(json.encode(both))
print(again[nfc], again[nfd])
-- expect: 1	2
defaults:set("k" .. nfc, 1)
defaults:set("k" .. nfd, 2)
print(defaults:get("k" .. nfc), defaults:get("k" .. nfd))
-- expect: 1	2
local item = items:createItem{ name = "x", [nfc] = 1, [nfd] = { [true] = both } }
print(item[nfc], item[nfd][true][nfc], item[nfd][true][nfd])
-- expect: 1	1	2

-- A text that is cut within a surrogate pair reads with U+FFFD, and is written back as it was.
local half = "bplist00\xA1\x01\x62\x00a\xD8\x3D\x08\x0A\0\0\0\0\0\0\1\1\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x0F"
local list = assert(plist.decode(half))
print(list[1] == "a\u{FFFD}", plist.encode(list) == half)
-- expect: true	true
list[1] = "b"
print(plist.decode(plist.encode(list))[1])
-- expect: b
print((select(2, pcall(plist.encode, plist.decode(half), { format = "xml" })):match("half of a surrogate pair")))
-- expect: half of a surrogate pair

-- OpenStep's text form, and .strings.
local strings = assert(plist.decode('/* greetings */\n"Hello" = "Hallo";\nBye = "Tsch\\U00fcs";\n'))
print(strings.Hello, strings.Bye)
-- expect: Hallo	Tschüs
print(plist.decode('{\n  "a": 1\n}'))
-- expect: nil	this is not a text property list: column 6: after the key “a” “=” is expected (line 2)	3840

-- Of equal keys the last counts, in XML and in JSON.
print(plist.decode("<plist><dict><key>a</key><true/><key>a</key><integer>2</integer></dict></plist>").a, json.decode('{"a":1,"a":2}').a)
-- expect: 2	2
-- expect log: json.decode: 1 key more than once in an object, the first "a"; the last value counts
