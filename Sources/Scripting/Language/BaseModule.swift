import Application
import Files
import Glibc
import Items
package import Lua
import Plots

/// Lua's own library within the sandbox: `print`, `require`, `io`, `os`.
package enum BaseModule {
    static func install(in host: ScriptHost, modules: [ScriptModule.Global]) {
        let state = host.state
        state.setFinalizerHint(", or app:on(\"willTerminate\", …)")
        let values = [LuaParameter("…", .variadic(.any), "values, shown as tostring shows them")]
        // Not a typed declaration, like io.write: as a LuaVariadic, the values take twice the time.
        state.setGlobal(
            LuaFunctionDeclaration(
                "print", values, doc: "Writes values to standard output, separated by tabs, as a line.",
                example: "print(\"items:\", #items)"), isPartOfLua: true
        ) { [unowned host] call in
            var line: [UInt8] = []
            for (index, value) in call.allValues.enumerated() {
                if index > 0 { line.append(UInt8(ascii: "\t")) }
                line += try text(of: value, in: call.state, shownBy: host)
            }
            line.append(UInt8(ascii: "\n"))
            if try call.state.countOutput(line.count) { host.output.put(line) }
            return call.returnsNothing()
        }

        DebugModule.install(in: host)
        RequireModule.install(in: host, modules: modules)
        if let io = installIO(in: host), let os = installOS(in: host) {
            ProgramModule.install(os: os, io: io, in: host)
        }
        StandardHandles.install(in: host)
    }

    /// The text of `tostring`.
    ///
    /// - Parameters:
    ///   - value: any value; a string is its own text.
    ///   - state: the value's state.
    ///   - host: shows the text to a user; nil for a text to store. For a user, the host's texts have local times and
    ///     are escaped for a terminal, since they contain data: an item's description has the item's name. Strings, and
    ///     the results of a script's own `__tostring`, belong to the script.
    /// - Returns: the text's bytes.
    /// - Throws: the error of a `__tostring`.
    package static func text(
        of value: LuaValue, in state: LuaState, shownBy host: ScriptHost? = nil
    ) throws -> [UInt8] {
        switch value {
        case .string(let string): return string.bytes
        case .table, .userdata:
            // A user sees the picture, a script that stores the text one line.
            if case .userdata = value, let host, let plot = state.luaClass(of: Plot.self)?.object(of: value) {
                return Array(host.drawing(of: plot).utf8)
            }
            // A table's address is useless to a user.
            if case .table(let table) = value, table.metatable == nil, let prompt = host?.promptOfEntry {
                return Array(prompt.describe(table).utf8)
            }
            guard case .function(let tostring) = state.globals["tostring"] else { return [] }
            let isHosts = host != nil && isDescribedByHost(value)
            let results =
                if let host, isHosts { try host.values.clock.showing { try tostring.call(value) } } else {
                    try tostring.call(value)
                }
            guard case .string(let text)? = results.first else { return [] }
            return isHosts && host?.output.isTerminal == true ? VisibleText.escaped(text.bytes) : text.bytes
        default: return state.describe(value).bytes
        }
    }

    private static func isDescribedByHost(_ value: LuaValue) -> Bool {
        guard case .table(let table) = value else { return true }
        guard case .function(let function)? = table.metatable?["__tostring"] else { return true }
        return function.place.isNative
    }

    // MARK: io

    private static func installIO(in host: ScriptHost) -> LuaModule? {
        guard
            let io = LuaModule(
                extending: "io", doc: "Files and standard streams; open and lines are limited to the sandbox's grants.",
                in: host.state)
        else { return nil }
        io.function(
            "open", ["path": "a path that the sandbox grants", "mode": "as C's fopen (default: \"r\")"],
            returns: LuaType.orError(.object("file*")), doc: "Opens a file; nil and an error if that fails.",
            example:
                "local file = assert(io.open(app.container.tmp .. \"/a.txt\", \"w\")) file:write(\"a\") file:close()"
        ) { [unowned host] (path: String, mode: String?) in
            try OrError(returning: FileError.self) { try open(path, mode ?? "r", host) }
        }
        let table = io.table
        io.function(
            "lines", ["path": "the file's path (default: standard input)", "…": "formats, as for file:read"],
            returns: [.callback("() → string")],
            doc:
                "An iterator over the lines of a file, or of standard input; raises an error if the file can't be opened.",
            example:
                "fs.write(app.container.tmp .. \"/a.txt\", \"a\\nb\\n\") for line in io.lines(app.container.tmp .. \"/a.txt\") do print(line) end"
        ) { [unowned host] (path: String?, formats: LuaVariadic<LuaValue>) in
            var file = table["stdin"]
            if let path {
                do { file = try open(path, "r", host) } catch let error as FileError {
                    throw LuaError(.runtime, error.message)
                }
            }
            guard case .function(let lines) = try host.state.field("lines", of: file) else {
                return LuaVariadic<LuaValue>([])
            }
            return LuaVariadic(try lines.call(arguments: [file] + formats))
        }
        io.function(
            "write", [LuaParameter("…", .variadic(.any), "strings and numbers")], returns: [.object("file*")],
            doc:
                "Writes to standard output; returns that file, or nil, the reason and its number when a write has failed.",
            example: "io.write(\"a\", 1, \"\\n\")"
        ) { [unowned host] call in
            try StandardHandles.write(call, toStandardError: false, host) ?? call.returns(table["stdout"])
        }
        return io
    }

    /// Opens a file in a mode of `fopen`.
    private static func open(_ path: String, _ mode: String, _ host: ScriptHost) throws -> LuaValue {
        let letters = mode.filter { !$0.is("b") }
        let access: FileAccess? =
            switch letters {
            case "r": .read
            case "w", "r+", "w+": .update
            case "a", "a+": .append
            default: nil
            }
        guard let access, mode.count - letters.count <= 1 else {
            throw LuaMismatch("invalid mode '\(mode)'", argument: "mode")
        }
        let grant: FenceAccess = letters == "r" ? .read : .readWrite
        try host.askConsent(path, grant)
        let layer = host.fence.layer
        if mode.hasPrefix("r+"), try layer.status(path) == nil { throw FileError(.open, path, code: ENOENT) }
        let file = try host.recreatingFolders(path, grant) { try layer.open(path, access, permissions: 0o644) }
        if mode.hasPrefix("w") { try layer.truncate(file, to: 0) }
        guard let value = host.state.makeFile(file.descriptor, mode: mode, path: path) else {
            layer.close(file)
            throw FileError(.open, path, code: EMFILE)
        }
        return value
    }

    // MARK: os

    private static func installOS(in host: ScriptHost) -> LuaModule? {
        guard
            let os = LuaModule(
                extending: "os", doc: "The system; remove and rename are limited to the sandbox's grants.",
                in: host.state)
        else { return nil }
        os.function(
            "exit",
            ["code": "the exit status; true is 0, false is 1", "close": "ignored: the state is always closed"],
            doc: "Ends the application in order: the items are saved first.", example: "os.exit(0)"
        ) { [unowned host] (code: LuaEither<Bool, Int64>?, _: Bool?) -> Void in
            let status: Int64 =
                switch code {
                case .first(false)?: 1
                case .second(let value)?: value
                default: 0
                }
            try host.lifeCycle.exit(status)
            throw LuaError(.cancelled, "the application has ended")
        }
        os.function(
            "remove", ["path": "a path that the sandbox grants"],
            doc: "Removes a file or an empty folder; nil and an error if that fails.",
            example: "local path = os.tmpname() fs.write(path, \"\") return os.remove(path)"
        ) { [unowned host] (path: String) in try host.remove(path) }
        os.function(
            "rename", ["from": "the file's path", "to": "the file's new path"],
            doc: "Renames a file; nil and an error if that fails.",
            example: "local path = os.tmpname() fs.write(path, \"\") return os.rename(path, path .. \".txt\")"
        ) { [unowned host] (from: String, to: String) in
            try host.attempt(from, .readWrite) { layer in
                try layer.rename(from, to: to)
                return true
            }
        }
        os.function("tmpname", doc: "A path for a new file in the container's tmp.", example: "return os.tmpname()") {
            [unowned host] in PathText.join(host.container.tmp, UUIDModule.make())
        }
        return os
    }
}

/// Reading an undefined global is an error with the nearest names; in an entry of a prompt it is a warning, and nil.
/// A script may replace the metatable, or change it, for a strictness of its own. Modules of the LuaRocks trees test for
/// globals of other Lua versions (`unpack or table.unpack`): there it is nil, as in Lua.
enum StrictGlobals {
    static func install(in host: ScriptHost) {
        let state = host.state
        state.memberHint = { CocoaNames.hint(forMember: $1, of: $0) }
        let globals = state.globals
        let declaration = LuaFunctionDeclaration("global", [LuaParameter("…", .variadic(.any))])
        let trees = host.options.usesLuaTrees ? LuaTrees.folders.map { "@\(DisplayPath.abbreviate($0))/" } : []
        let index = state.makeFunction(declaration) { [unowned host] call in
            guard let name = call.value(1).textValue else { return call.returns(LuaValue.nil) }
            let warnings = host.runtime.entryWarnings
            // Handlers and timers have a title, also those that an entry has defined and runs.
            let isTyped =
                (warnings.isRunningEntry || host.scheduler.entry != nil) && host.scheduler.current?.title == nil
                && isEntry(call)
            // Variables of the prompt may not be set yet.
            if isTyped, isOfPrompt(name) || warnings.contains(name) { return call.returns(LuaValue.nil) }
            if let source = call.chunkName(ofLevel: 1), trees.contains(where: source.hasPrefix) {
                return call.returns(LuaValue.nil)
            }
            var known: [String] = []
            try globals.forEach { key, _ in
                if let text = key.textValue { known.append(text) }
                return true
            }
            let hint = CocoaNames.hint(forGlobal: name) ?? NearestNames.hint(for: name, among: known)
            let message = "undefined global '\(name)'\(hint)"
            guard isTyped else { throw LuaError(.runtime, message) }
            warnings.insert(name)
            host.output.putError("warning: \(message)\n")
            return call.returns(LuaValue.nil)
        }
        globals.setMetatable(state.makeTable(["__index": index]))
    }

    /// Whether the reading code is an entry of a prompt: modules that an entry calls stay strict. Entries are named by
    /// their numbers, `[3]`.
    private static func isEntry(_ call: LuaCall) -> Bool {
        // The prompt's table of locals may be in between.
        for level in 1...2 {
            guard let source = call.chunkName(ofLevel: level) else { return false }
            if source.hasPrefix("=["), source.dropFirst(2).prefix(while: \.isNumber).count + 3 == source.count {
                return true
            }
            guard source == "=(scope)" else { return false }
        }
        return false
    }

    /// `_`, `_1`, `_err`, `_PROMPT`.
    private static func isOfPrompt(_ name: String) -> Bool {
        guard name.first == "_" else { return false }
        let rest = name.dropFirst()
        return ["", "err", "PROMPT", "PROMPT2"].contains(rest) || rest.allSatisfy(\.isNumber)
    }
}

/// The undefined globals of a prompt's entry: each is warned about once.
final class EntryWarnings {
    /// Whether an entry of the host's own prompt is running: undefined globals are warnings there.
    private(set) var isRunningEntry = false
    private var names: NameSet = []

    /// Begins an entry of the host's own prompt, possibly while another one waits.
    ///
    /// - Returns: whether another one waits, for ``end(_:)``.
    func begin() -> Bool {
        defer { isRunningEntry = true }
        reset()
        return isRunningEntry
    }

    func end(_ outer: Bool) {
        isRunningEntry = outer
        reset()
    }

    /// Another entry, or none, is running.
    func reset() { names.removeAll() }

    func contains(_ name: String) -> Bool { names.contains(name) }

    func insert(_ name: String) { names.insert(name) }
}
