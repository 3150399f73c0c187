-- NSPredicate's format language.

local item = items:createItem{
  name = "Café Table", valueInDollars = 120, serialNumber = "74.42.12", dateCreated = date("1974-10-10"),
  tags = { "gift", "wood" }, numbers = { 1, 5, 9 }, size = { width = 60 }, sold = false,
}
local function holds(format, variables) print(predicate(format, variables):evaluate(item)) end

holds("valueInDollars == 120 AND name BEGINSWITH 'Caf'")
-- expect: true
holds("name CONTAINS 'cafe'")
-- expect: false
holds("name CONTAINS[cd] 'cafe'")
-- expect: true
holds("name ENDSWITH[c] 'TABLE'")
-- expect: true
holds("name LIKE 'Caf? *'")
-- expect: true
holds("serialNumber MATCHES '[0-9]+\\\\.[0-9]+\\\\.[0-9]+'")
-- expect: true
holds("NOT (valueInDollars > 200 OR valueInDollars < 100)")
-- expect: true
holds("valueInDollars BETWEEN {100, 120}")
-- expect: true
holds("name IN {'Chair', 'Café Table'}")
-- expect: true
holds("name IN $names", { names = { "Chair" } })
-- expect: false
holds("ANY tags == 'wood'")
-- expect: true
holds("ALL numbers > 1")
-- expect: false
holds("size.width == 60")
-- expect: true
holds("missing == nil AND sold == FALSE")
-- expect: true
holds("dateCreated < $day", { day = date("1975-01-01") })
-- expect: true
holds("valueInDollars + 1 == 121")
-- expect: true
holds("TRUEPREDICATE")
-- expect: true
print(predicate("name == $n", { n = "Lamp" }))
-- expect: name == "Lamp"
-- A variable's text is text, whatever stands in it.
holds("name == $n", { n = "' OR TRUEPREDICATE OR name == '" })
-- expect: false
for _, format in ipairs{ "", "name", "name == 'a", "name = = 1", "name BETWEEN 3", "name LIKE", "(name == 1" } do
  print((select(2, pcall(predicate, format)):match("^[^\n]*")))
end
-- expect: predicate: the predicate is empty; TRUEPREDICATE holds for everything (column 1)
-- expect: predicate: name is a value, not a condition; compare it, as in name == TRUE (column 1)
-- expect: predicate: the text that begins here has no closing ' (column 9)
-- expect: predicate: a value is missing before = (column 8)
-- expect: predicate: BETWEEN takes two bounds in braces, as in {1, 10}, and this is a number (column 14)
-- expect: predicate: a value is missing behind LIKE (column 10)
-- expect: predicate: this ( is never closed (column 1)
