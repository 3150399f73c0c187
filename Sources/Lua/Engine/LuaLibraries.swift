/// Libraries for the scripts of a ``LuaEngine``, in addition to the basic functions, `print` and `io.write`.
public struct LuaLibraries: OptionSet, Sendable {
    public let rawValue: Int
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// `coroutine`.
    public static let coroutine = LuaLibraries(rawValue: 1)
    /// `table`.
    public static let table = LuaLibraries(rawValue: 2)
    /// `string`, and the methods of strings.
    public static let string = LuaLibraries(rawValue: 4)
    /// `math`.
    public static let math = LuaLibraries(rawValue: 8)
    /// `utf8`.
    public static let utf8 = LuaLibraries(rawValue: 16)
    /// `os.clock`, `os.date`, `os.difftime` and `os.time`.
    public static let time = LuaLibraries(rawValue: 32)
    /// `debug.traceback` and `debug.getinfo`, for trusted scripts.
    public static let debug = LuaLibraries(rawValue: 64)
    /// All of `io` and `os`, for trusted scripts: file access is not restricted, and environments share the methods of
    /// file objects.
    public static let files = LuaLibraries(rawValue: 128)

    /// Libraries without access beyond the engine; the default.
    public static let standard: LuaLibraries = [.coroutine, .table, .string, .math, .utf8, .time]

    /// Removes the libraries that are not in the set from a state's globals.
    func narrow(_ globals: LuaTable) {
        let named: [(LuaLibraries, LuaValue)] = [
            (.coroutine, "coroutine"), (.table, "table"), (.string, "string"), (.math, "math"), (.utf8, "utf8"),
            (.debug, "debug"),
        ]
        for (library, name) in named where !contains(library) { globals[name] = nil }
        guard !contains(.files), case .table(let system) = globals["os"] else { return }
        let time = globals.state.makeTable(fields: 4)
        for name: LuaValue in ["clock", "date", "difftime", "time"] { time[name] = system[name] }
        globals["os"] = contains(.time) ? .table(time) : nil
        guard case .table(let files) = globals["io"] else { return }
        let output = globals.state.makeTable(fields: 1)
        output["write"] = files["write"]
        globals["io"] = .table(output)
    }
}
