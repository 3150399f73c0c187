-- Sets pictures without end, of two kinds, and says what it is about to do and what it has done; see pictures.py.

local first, second = assert(image.open((...))), assert(image.open((select(2, ...))))
math.randomseed(tonumber((select(3, ...))))
local function say(...) io.write(table.concat({ ... }, " "), "\n") io.stdout:flush() end

local steps = {
  set = function(item)
    local which = math.random(2)
    say("will", item.itemKey, which)
    item.image = which == 1 and first or second
    say("did", item.itemKey, which)
  end,
  create = function()
    items:transaction(function()
      local item = items:createItem{ name = "Item " .. #items }
      say("will", item.itemKey, 1)
      item.image = first
    end)
  end,
  replace = function(item)
    local which = math.random(2)
    say("will", item.itemKey, which)
    items:transaction(function()
      item.valueInDollars = which
      item.image = which == 1 and first or second
    end)
    say("did", item.itemKey, which)
  end,
  remove = function(item) items:transaction(function() items:removeItem(item) end) end,
  undo = function()
    items:transaction(function() items:removeItem(items[#items]) end)
    items:undo()
  end,
}
local order = { "set", "set", "set", "create", "replace", "replace", "remove", "undo" }
say("ready")
while true do
  local step = #items < 3 and "create" or #items > 20 and "remove" or order[math.random(#order)]
  steps[step](items[math.random(math.max(#items, 1))])
end
