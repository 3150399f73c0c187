import Lua

/// What the program is about: a greenhouse with a heater and vents. It knows nothing of Lua but its callback.
final class Greenhouse {
    enum Vents: CaseIterable { case closed, ajar, open }

    struct TooHot: Error {
        let degrees: Double
    }

    let name: String
    private(set) var degrees = 18.0
    var vents = Vents.closed
    private var watchers: [LuaCallback<LuaNothing, Double>] = []

    init(name: String) { self.name = name }

    func heat(by change: Double) throws -> Double {
        guard degrees + change <= 45 else { throw TooHot(degrees: degrees + change) }
        degrees += change
        for watcher in watchers { _ = try watcher(degrees) }
        return degrees
    }

    func watch(_ watcher: LuaCallback<LuaNothing, Double>) { watchers.append(watcher) }

    func plan(_ changes: [Double]) throws -> [Double] { try changes.map(heat(by:)) }
}
