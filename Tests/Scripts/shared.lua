-- What is held in many places, or in itself, is converted in time and in memory, or refused with the reason.
local function dag(levels)
  local t = {}
  for _ = 1, levels do t = { t, t } end
  return t
end
local vast, cyclic = dag(40), { 1 }
cyclic[2] = cyclic
local item = items:createItem{ name = "Lamp" }
local function outcome(body)
  local ok, err = pcall(body)
  if ok then return "taken" end
  err = tostring(err)
  return err:find("unfolds to more than", 1, true) and err:find("held many times", 1, true) and "unfolds"
    or err:find("contains itself", 1, true) and "contains itself" or err
end
for _, case in ipairs{
  { "json", function(t) json.encode(t) end }, { "plist", function(t) plist.encode(t) end },
  { "xml", function(t) plist.encode(t, { format = "xml" }) end }, { "defaults", function(t) defaults:set("k", t) end },
  { "field", function(t) item.tags = t end }, { "create", function(t) items:createItem{ name = "a", tags = t } end },
  { "update", function(t) items:query():update{ tags = t } end },
  { "predicate", function(t) predicate("name == $x", { x = t }) end },
} do
  print(case[1], outcome(function() case[2](vast) end), outcome(function() case[2](cyclic) end))
end
-- expect: json	unfolds	contains itself
-- expect: plist	unfolds	contains itself
-- expect: xml	unfolds	contains itself
-- expect: defaults	unfolds	contains itself
-- expect: field	unfolds	contains itself
-- expect: create	unfolds	contains itself
-- expect: update	unfolds	contains itself
-- expect: predicate	unfolds	contains itself

-- A keyed archive keeps what is shared once, and cycles.
local archive = archiver.archivedData(vast)
print(#archive < 2000, #archiver.archivedData(cyclic) < 500)
-- expect: true	true

-- What is shared a little is data as any.
item.tags = dag(10)
print(#json.encode(dag(10)), #item.tags[1][2], #items, item.tags[2][1][1] ~= nil)
-- expect: 5117	2	1	true

-- Where it is, the path says.
print(select(2, pcall(json.encode, { a = { 1, { b = print } } })))
-- expect: bad argument #1 'value' to 'json.encode' (a[2].b: a function is not a property-list value (string, number, boolean, date, data, array, dictionary))
