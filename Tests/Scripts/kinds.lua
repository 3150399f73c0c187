-- What fields hold, comparisons of other kinds, and conversions.
for i, height in ipairs{ "5.875", "13.0", "" } do
  local item = items:createItem{ name = "Vase " .. i }
  item.height = height
  item.n = i
end

local described = items:describe()
for _, row in ipairs(described) do
  if row.field == "height" or row.field == "n" then
    print(row.field, row.kind, row.count, row.distinct, row.min, row.max, #row.examples)
  end
end
-- expect: height	string	3	3		5.875	3
-- expect: n	integer	3	3	1	3	3
print((tostring(items:query("n < 3"):describe()):gsub("%s+", " "):match("n integer .-, 2")))
-- expect: n integer 2 2 1 2 1, 2

print(select(2, pcall(items.query, items, "height > 3")):match("every.*comparable"))
-- expect: every height is text: items:convert("height", "integer") makes it comparable
print((select(2, items:convert("height", "integer")).message:gsub("item [%x-]+", "item KEY")))
-- expect: height of the item KEY is "5.875", which is not an integer: nothing was converted
print(items:convert("height", "real"), items:query("height > 6"):count(), items[3].height)
-- expect: 3	1	nil
print(items:convert("height", "string"), items[2].height)
-- expect: 2	13.0
print(select(2, pcall(items.convert, items, "name", "integer")))
-- expect: name is a field of every item: its kind cannot change
print(select(2, pcall(items.convert, items, "nmae", "integer")))
-- expect: no item has a field nmae: did you mean name?
