-- package is as much of Lua's as modules need: what was loaded, and what is loaded by a function.

package.preload["made.here"] = function(name, place) return { name = name, place = place } end
print(require("made.here").name, require("made.here").place, (select(2, pcall(require, "greeting"))) == require("greeting"))
-- expect: made.here	:preload:	true
print(package.loaded["made.here"] == require("made.here"), package.loaded.cubby.items == items, package.loaded._G == _G)
-- expect: true	true	true
package.preload.silent = function() end
print(require("silent"), (require("silent")))
-- expect: true	true
package.loaded["made.here"] = nil
print(require("made.here").name, select("#", require("silent")))
-- expect: made.here	1
print((select(2, pcall(require, "circle")):gsub("^.*/", "")))
-- expect: circle.lua:2: module 'circle' requires itself, by way of what it requires
print((select(2, pcall(require, "no.where")):gsub("no file '[^\n]*/(%w+/%w+/no/where[^\n]*)'", "no file '%1'")):match("^(.-)\n.-(preload.-)\n"))
-- expect: module 'no.where' not found:	preload['no.where']
local places = select(2, pcall(require, "no.where"))
for _, place in ipairs{ "modules/no/where.lua'", "Library/Scripts/no/where/init.lua'", "5.4/no/where.lua'" } do
  io.write(tostring(places:find(place, 1, true) ~= nil), " ")
end
print(package.path:match("%?%.lua") ~= nil, package.cpath, package.config:sub(1, 1))
-- expect: true true true true		/
