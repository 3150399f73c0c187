import Lua

/// A program whose scripts run its greenhouse: its own type in a few lines, a callback, an enum, limits.
@main
enum EmbeddedHost {
    static let scripts = [
        ("properties", "return house.name, house.degrees, house.vents"),
        (
            "callback",
            """
            house:onChange(function(degrees)
              house.vents = degrees > 30 and "open" or degrees > 24 and "ajar" or "closed"
            end)
            return house:heat(4), house.vents, house:heat(4), house.vents
            """
        ),
        ("array", "return table.concat(house:plan{ 2, 4, -8 }, ' '), house.vents"),
        ("another", "local small = Greenhouse.named('Small') return small:heat(1.5), small == house, house == house"),
        ("caught", "local ok, err = pcall(house.heat, house, 100) return ok, err.code, err.message"),
        ("uncaught", "house:heat(100)"),
        ("enum", "house.vents = 'opne'"),
        ("argument", "house:heat('much')"),
        ("misspelt", "house:haet(1)"),
        ("memory", "local t = {} for i = 1, math.huge do t[i] = i end"),
        ("time", "while true do pcall(function() while true do end end) end"),
        ("files", "return io, os"),
        ("afterwards", "return house.degrees, house.vents"),
    ]

    static func main() throws {
        let runner = try ScriptRunner(memory: 8 << 20, time: .milliseconds(200))
        let house = Greenhouse(name: "Palm House")
        runner.state.addClass(Greenhouse.self)
        runner.state.setGlobal("house", to: house)
        for (name, script) in scripts { print("\(name): \(runner.run(script, name: name))") }
        print("Swift sees \(house.degrees) degrees, vents \(house.vents)")
        runner.state.close()
    }
}
