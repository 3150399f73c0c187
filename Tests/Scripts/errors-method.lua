-- Calling a method that an item lacks names the nearest one: an item may lack any field, so that reading it is nil.
local absent
local query, item = items:query("name != ''"), items:createItem{ name = "Lamp" }
local calls = {
  function() item:copi() end,
  function() return item:copi() end,
  function() print(absent, item:copi(absent, query, "x")) end,
  function() return { item.name, absent, item:copi() } end,
  function() local own = {} own:copi(item) end,
  function() item.copi(query) end,
  function() item:color(query) end,
  function() error("attempt to call a nil value (method 'copi')") end,
}
for _, call in ipairs(calls) do
  app:on("user.fails", { id = "fails" }, call)
  app:emit("user.fails")
  print(app:errors()[1].message)
end
-- expect: errors-method.lua:5: attempt to call a nil value (method 'copi'); did you mean 'copy'?
-- expect: errors-method.lua:6: attempt to call a nil value (method 'copi'); did you mean 'copy'?
-- expect: errors-method.lua:7: attempt to call a nil value (method 'copi'); did you mean 'copy'?
-- expect: errors-method.lua:8: attempt to call a nil value (method 'copi'); did you mean 'copy'?
-- expect: errors-method.lua:9: attempt to call a nil value (method 'copi')
-- expect: errors-method.lua:10: attempt to call a nil value (field 'copi')
-- expect: errors-method.lua:11: attempt to call a nil value (method 'color')
-- expect: errors-method.lua:12: attempt to call a nil value (method 'copi')
-- expect log: error in the handler
item:copi()
-- expect error: errors-method.lua:28: attempt to call a nil value (method 'copi'); did you mean 'copy'?
