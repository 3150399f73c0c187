-- Draws the plots of docs/plots.md: scripts/run --ephemeral --allow-read examples --allow-write docs scripts/lib/plots.lua
assert(items:import("examples/data/household.csv", { key = "name" }))
local size = { width = 720, height = 360 }
assert(items:query():plot{ x = "room", y = "valueInDollars", order = "value" }:save("docs/plot-bars.svg", size))
assert(items:query():plot{ x = "dateCreated", y = "valueInDollars" }:save("docs/plot-line.svg", size))
