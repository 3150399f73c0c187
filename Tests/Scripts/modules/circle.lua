-- A module of the test package.lua.
return require("circle")
