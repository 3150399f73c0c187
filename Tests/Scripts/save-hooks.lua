-- Handlers around a save.

app:on("willSave", { id = "before" }, function(event)
  items[1].checked = true
  print("before", items.hasChanges)
end)
app:on("didSave", { id = "after" }, function(event)
  print("after", event.ok, event.error, event.items, event.seconds >= 0, items.hasChanges)
end)
items:createItem{ name = "Bear" }
print(items:saveChanges())
-- expect: before	true
-- expect: after	true	nil	1	true	false
-- expect: true
-- expect log: Saved all of the Items
app:off("before")

-- A save that a script asked for can be refused; one on the way to the background can't.
app:on("willSave", { id = "no" }, function(event) event:veto("not today") end)
items[1].checked = false
local saved, err = items:saveChanges()
print(saved, err.message, items.hasChanges)
-- expect: nil	a willSave handler refused: not today	true
app:pressHome()
-- expect: after	true	nil	1	true	false
-- expect log: willSave cannot be refused
-- expect log: Saved all of the Items
app:open()

-- What a handler on the way to the background changes is saved, and a broken one never stops the save.
app:off("no")
app:on("didEnterBackground", { id = "broken" }, function(event)
  print(event:remaining() > 0 and event:remaining() <= 5)
  items:createItem{ name = "made on the way" }
  error("and broken")
end)
app:pressHome()
-- expect: true
-- expect: after	true	nil	2	true	false
-- expect log: and broken
-- expect log: Saved all of the Items
print(#items, items.hasChanges)
-- expect: 2	false
app:open()
app:off("broken")
