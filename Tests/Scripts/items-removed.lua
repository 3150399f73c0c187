-- A removed item's object stays safe: every use raises, nothing crashes.

local item = items:createItem{ name = "Bear", tags = { "a" } }
local tags = item.tags
items:removeItem(item)
print(#items, tags[1])
-- expect: 0	a
for _, body in ipairs{
  function() return item.name end,
  function() return item.room end,
  function() item.name = "x" end,
  function() item.room = "x" end,
  function() return item:copy() end,
  function() return item.image end,
  function() return item.itemKey end,
  function() items:removeItem(item) end,
} do
  local ok, message = pcall(body)
  print(ok, (tostring(message):gsub("^[%w%-]+%.lua:%d+: ", "")))
end
-- expect: false	item was removed
-- expect: false	item was removed
-- expect: false	item was removed
-- expect: false	item was removed
-- expect: false	item was removed
-- expect: false	item was removed
-- expect: false	item was removed
-- expect: false	item was removed
print(tostring(item):find("removed") ~= nil, item == item)
-- expect: true	true
