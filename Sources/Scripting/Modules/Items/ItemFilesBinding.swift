import Application
import Items
import Lua
import PropertyList
import SQLite

/// What `items:import`, `items:export` and `query:export` have in common: options, and long work.
enum ItemFilesBinding {
    static let path = LuaParameter("path", .text, "the file's; - is the standard stream")

    private static let formats = ItemFileFormat.allCases.map(\.rawValue)

    static func format(_ documentation: String) -> LuaParameter {
        LuaParameter("format", .choice(formats), documentation)
    }
    static let delimiter = LuaParameter(
        "delimiter", .text, "between the cells of CSV; a comma, a tab for .tsv, if not given")
    static let progress = LuaParameter("progress", .boolean, "whether a bar is drawn on a terminal")

    /// The options that reading and writing share.
    static func options(_ call: LuaCall, _ path: String, at position: Int = 1) throws -> ItemFileOptions {
        let given = try call.option("format", of: position).textValue
        guard let format = given.flatMap(ItemFileFormat.init(rawValue:)) ?? ItemFileFormat(path: path) else {
            throw call.refuse(
                0,
                "the extension of '\(path)' names no format: give options.format, \(formats.dropLast().joined(separator: ", ")) or \(formats.last ?? "")"
            )
        }
        var options = ItemFileOptions(format: format)
        if let text = try call.option("delimiter", of: position).textValue {
            guard text.utf8.count == 1, let byte = text.utf8.first else {
                throw call.refuse(position, "option 'delimiter': one ASCII character expected, got '\(text)'")
            }
            options.delimiter = byte
        }
        if case .table(let map) = try call.option("map", of: position) {
            try map.forEach { key, value in
                guard let name = key.textValue else {
                    throw call.refuse(position, "option 'map': names are text, got \(call.state.describe(key))")
                }
                switch value {
                case .boolean(false): options.names[name] = .some(nil)
                default:
                    guard let other = value.textValue else {
                        throw call.refuse(position, "option 'map': '\(name)' needs a name, or false to leave it out")
                    }
                    options.names[name] = other
                }
                return true
            }
        }
        if try call.option("progress", of: position).isTruthy { options.progress = { _, _ in } }
        return options
    }

    /// An option that is a text, or an array of texts.
    static func texts(_ call: LuaCall, _ name: String, at position: Int = 1) throws -> [String]? {
        switch try call.option(name, of: position) {
        case .nil: return nil
        case .table(let table):
            return try (0..<table.count).map { index in
                guard let text = table[index + 1].textValue else {
                    throw call.refuse(position, "option '\(name)': an array of text expected")
                }
                return text
            }
        case let value:
            guard let text = value.textValue else {
                throw call.refuse(position, "option '\(name)': text expected, got \(call.state.describe(value))")
            }
            return [text]
        }
    }

    /// Returns what the body returns, or nil and an error of the world.
    static func finish(_ call: LuaCall, _ body: () throws -> LuaResults) throws -> LuaResults {
        do {
            return try body()
        } catch let error as StoreError where !error.code.isProgrammerError {
            return call.returns(failure: error)
        } catch let error as SQLiteError {
            if error.code == .interrupted { throw WorkStopped() }
            return call.returns(failure: error)
        }
    }

    /// Runs long work that Ctrl-C and time limits reach, with an optional progress bar.
    static func work<Result>(
        _ options: inout ItemFileOptions, _ verb: String, on host: ScriptHost,
        _ body: (ItemFileOptions) throws -> Result
    ) throws -> Result {
        let checkpoint = try host.state.load(Array("".utf8), name: "=checkpoint")
        let showsBar = options.progress != nil
        // What is read as a stream is counted in bytes; everything else counts items.
        let isStream = verb == "Importing" && [.csv, .tsv, .jsonLines].contains(options.format)
        var bar: ProgressBar?
        defer { bar?.finish(host.output) }
        options.progress = { done, total in
            // The VM checks for interrupts when it enters a function.
            _ = try checkpoint.call()
            guard showsBar else { return }
            let shown = bar ?? ProgressBar(total: Int64(total), label: verb, unit: isStream ? .bytes : .steps)
            bar = shown
            shown.show(Int64(done), host.output)
        }
        return try body(options)
    }
}
