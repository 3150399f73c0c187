import Application
import Files
import Glibc
import Items
import Lua
import Wording

/// Lua's own library within the sandbox: `print`, `require`, `io`, `os`.
enum BaseModule {
    static func install(in host: ScriptHost, modules: [(String, LuaValue)]) {
        let state = host.state
        state.setFinalizerHint(", or app:on(\"willTerminate\", …)")
        let line = [LuaParameter("…", .variadic(.any), "values, shown as tostring shows them")]
        state.setGlobal(
            LuaFunctionDeclaration(
                "print", line, "Writes values to standard output, tabs between them, as a line.",
                example: "print(\"items:\", #items)"), isPartOfLua: true
        ) { [unowned host] call in
            var line: [UInt8] = []
            for (index, value) in call.allValues.enumerated() {
                if index > 0 { line.append(UInt8(ascii: "\t")) }
                line += try text(of: value, in: call.state, shownBy: host)
            }
            line.append(UInt8(ascii: "\n"))
            if try call.state.countOutput(line.count) { host.output.write(line) }
            return call.returnsNothing()
        }

        RequireModule.install(in: host, modules: modules)
        if let io = installIO(in: host), let os = installOS(in: host) {
            ProgramModule.install(os: os, io: io, in: host)
        }
        StandardInput.install(in: host)
    }

    /// The text of `tostring`.
    ///
    /// - Parameters:
    ///   - value: any value; a string is its own text.
    ///   - state: the value's state.
    ///   - host: shows the text to a person; nil for a text that is kept. The host's texts have local times then, and are
    ///     escaped for a terminal, since they contain data: an item's description has the item's name. Strings, and the
    ///     results of a script's own `__tostring`, belong to the script.
    /// - Returns: the text's bytes.
    /// - Throws: the error of a `__tostring`.
    static func text(
        of value: LuaValue, in state: LuaState, shownBy host: ScriptHost? = nil
    ) throws -> [UInt8] {
        switch value {
        case .string(let string): return string.bytes
        case .table, .userdata:
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
                extending: "io", "Files and standard streams; open and lines take what the sandbox grants.",
                in: host.state)
        else { return nil }
        let path = LuaParameter("path", .text, "a path that the sandbox grants")
        io.function(
            "open", [path, LuaParameter("mode", .optional(.text), "as C's fopen; \"r\" if not given")],
            returns: LuaType.orError(.object("file*")), "Opens a file; nil and an error when it can't be.",
            example:
                "local file = assert(io.open(app.container.tmp .. \"/a.txt\", \"w\")) file:write(\"a\") file:close()"
        ) { [unowned host] call in
            let mode = try call.optional(1, call.text) ?? "r"
            guard let access = FileMode(mode) else { throw call.refuse(1, "invalid mode '\(mode)'") }
            do { return call.returns(try open(call, try call.text(0), access, mode, host)) } catch let error
                as FileError
            {
                return call.returns(failure: error)
            }
        }
        let table = io.table
        io.function(
            "lines",
            [
                LuaParameter("path", .optional(.text), "the file's; standard input, if not given"),
                LuaParameter("…", .variadic(.any), "formats, as for file:read"),
            ],
            returns: [.callback("() → string")],
            "An iterator over the lines of a file, or of standard input; raises when the file can't be opened.",
            example:
                "fs.write(app.container.tmp .. \"/a.txt\", \"a\\nb\\n\") for line in io.lines(app.container.tmp .. \"/a.txt\") do print(line) end"
        ) { [unowned host] call in
            let formats = call.values(from: 1)
            var file = table["stdin"]
            if let path = try call.optional(0, call.text) {
                do { file = try open(call, path, .read, "r", host) } catch let error as FileError {
                    throw LuaError(.runtime, error.message)
                }
            }
            guard case .function(let lines) = try call.state.field("lines", of: file) else {
                return call.returnsNothing()
            }
            return try call.returns(values: lines.call(arguments: [file] + formats))
        }
        io.function(
            "write", [LuaParameter("…", .variadic(.any), "strings and numbers")], returns: [.object("file*")],
            "Writes to standard output; gives that file.", example: "io.write(\"a\", 1, \"\\n\")"
        ) { [unowned host] call in
            for (position, value) in call.allValues.enumerated() {
                switch value {
                case .string, .integer, .number:
                    let text = call.state.describe(value).bytes
                    if try call.state.countOutput(text.count) { host.output.write(text) }
                default: throw call.refuse(position, "string expected, got \(value.typeName)")
                }
            }
            return call.returns(table["stdout"])
        }
        return io
    }

    /// A mode of `fopen`.
    private enum FileMode {
        case read, write, append

        init?(_ mode: String) {
            let letters = mode.filter { $0 != "b" }
            guard mode.count - letters.count <= 1 else { return nil }
            switch letters {
            case "r": self = .read
            case "w", "r+", "w+": self = .write
            case "a", "a+": self = .append
            default: return nil
            }
        }
    }

    private static func open(
        _ call: LuaCall, _ path: String, _ mode: FileMode, _ text: String, _ host: ScriptHost
    ) throws -> LuaValue {
        let access: FileAccess =
            switch mode {
            case .read: .read;
            case .write: .update;
            case .append: .append
            }
        try host.askConsent(path, mode == .read ? .read : .readWrite)
        let layer = host.fence.layer
        if text.hasPrefix("r+"), try layer.status(path) == nil { throw FileError(.open, path, code: ENOENT) }
        let file = try host.recreatingFolders(path, mode == .read ? .read : .readWrite) {
            try layer.open(path, access, permissions: 0o644)
        }
        if text.hasPrefix("w") { try layer.truncate(file, to: 0) }
        guard let value = call.state.makeFile(file.descriptor, mode: text) else {
            layer.close(file)
            throw FileError(.open, path, code: EMFILE)
        }
        return value
    }

    // MARK: os

    private static func installOS(in host: ScriptHost) -> LuaModule? {
        guard
            let os = LuaModule(
                extending: "os", "The system; remove and rename take what the sandbox grants.", in: host.state)
        else { return nil }
        os.function(
            "exit",
            [
                LuaParameter(
                    "code", .optional(.union([.boolean, .integer])), "the exit status; true is 0, false is 1"),
                LuaParameter("close", .optional(.boolean), "the state is closed in any case"),
            ],
            "Ends the application in order: the items are saved first.", example: "os.exit(0)"
        ) { [unowned host] call in
            var code: Int32 = 0
            switch call.value(0) {
            case .boolean(false): code = 1
            case .integer(let value): code = Int32(truncatingIfNeeded: value)
            default: break
            }
            host.terminate(code, cause: .script, explicitly: true)
            throw LuaError(.cancelled, "the application has ended")
        }
        os.function(
            "remove", [LuaParameter("path", .text, "a path that the sandbox grants")],
            returns: LuaType.orError(.boolean), "Removes a file, or an empty folder; nil and an error when it can't.",
            example: "local path = os.tmpname() fs.write(path, \"\") return os.remove(path)"
        ) { [unowned host] call in try FileSystemModule.remove(call, host) }
        os.function(
            "rename", [LuaParameter("from", .text, "its path"), LuaParameter("to", .text, "its new path")],
            returns: LuaType.orError(.boolean), "Renames a file; nil and an error when it can't.",
            example: "local path = os.tmpname() fs.write(path, \"\") return os.rename(path, path .. \".txt\")"
        ) {
            [unowned host] call in
            let (from, to) = (try call.text(0), try call.text(1))
            return try FileSystemModule.attempt(call, host, from, .readWrite) { layer in
                try layer.rename(from, to: to)
                return call.returns(true)
            }
        }
        os.function(
            "tmpname", returns: [.string], "A path for a new file in the container's tmp.",
            example: "return os.tmpname()"
        ) { [unowned host] call in
            call.returns(PathText.join(host.container.tmp, UUIDModule.make()))
        }
        return os
    }
}
