-- Predicates over a graph compare Foundation's classes by value.
local function open(fields)
  return assert(archiver.open(archiver.archivedData({ archiver.object("Foo", fields), archiver.object("Other", { name = "B" }) })))
end
local graph = open{
  name = "A", price = archiver.decimal("12.50"), many = archiver.decimal("1e3" and "1000"), below = archiver.decimal("-0.1"),
  uid = archiver.uuid("00010203-0405-0607-0809-0A0B0C0D0E0F"), url = archiver.url("a", archiver.url("https://example.org/")),
  cs = archiver.collection("NSCountedSet", { c = 3, d = 1 }), set = archiver.collection("NSSet", { "x", "y" }),
  ordered = archiver.collection("NSOrderedSet", { 5, 6 }), since = date(100), bytes = data("ab"), span = archiver.range(5, 2),
  frame = archiver.rect(1, 2, 3, 4.5), wide = plist.integer("18446744073709551616"), nothing = null,
  text = archiver.object("NSAttributedString", { NSString = "Hello" }), parts = { { n = 1 }, { n = 2, cs = archiver.collection("NSCountedSet", { z = 1 }) } },
}
for _, predicate in ipairs{
  "price > 10", "price == 12.5", "price * 2 == 25", "price BETWEEN {12, 13}", "price IN {1, 12.5}", "many == 1000", "below < 0", "many + price == 1012.5",
  "uid == '00010203-0405-0607-0809-0A0B0C0D0E0F'", "uid BEGINSWITH '0001'", "url == 'https://example.org/a'", "url ENDSWITH '/a'",
  "ANY cs == 'c'", "'d' IN cs", "cs CONTAINS 'c'", "cs.@count == 2", "cs != nil AND NOT (ANY cs == 'e')", "ANY set == 'y'", "ordered[1] == 6", "ordered.@sum == 11",
  "since < CAST(200, 'NSDate')", "bytes.length == 2", "span.location == 5", "frame.size.width == 3", "wide > 18446744073709551615",
  "text == 'Hello'", "text.length == 5", "text.NSString == 'Hello'", "ANY parts.n == 2", "parts.@count == 2", "SUBQUERY(parts, $p, $p.n > 1).@count == 1",
  "SUBQUERY(parts, $p, ANY $p.cs == 'z').@count == 1", "SUBQUERY(cs, $c, $c == 'c').@count == 1", "parts[1].className == 'NSDictionary'", "className == 'Foo'",
} do
  local found = graph:query(predicate)
  if #found ~= 1 or found[1].name ~= "A" then print("not found:", predicate, #found) end
end
for _, predicate in ipairs{ "price > 13", "price == '12.50'", "uid == 'x'", "ANY cs == 3", "text == 'hello'", "wide < 5" } do
  if #graph:query(predicate) ~= 0 then print("found:", predicate) end
end
print(#graph:query("SELF.className == 'NSDecimalNumber'"), #graph:query("className == 'NSDecimalNumber' AND SELF < 0"))
-- expect: 3	1

-- Objects that refer to one another, and a changed one.
local owner = archiver.object("Owner", { name = "Ann" })
owner.item = archiver.object("Item", { name = "Bear", owner = owner, price = archiver.decimal("3") })
local loop = assert(archiver.open(archiver.archivedData({ owner })))
print(#loop:query("item.owner.name == 'Ann' AND item.price == 3"), #loop:query("owner.item.owner.item.price == 3"))
-- expect: 1	1
loop.root[1].item.price = archiver.decimal("4.25")
print(#loop:query("price == 4.25"), #loop:query("price == 3"))
-- expect: 1	0
