import Application
import Glibc
import Lua
import Stores

/// What Lua's own library has, as the sandbox grants it: `print`, `require`, `io`, `os`.
enum BaseModule {
    static func install(in host: ScriptHost, modules: [(String, LuaValue)]) {
        let state = host.state
        let globals = state.globals
        let variadic = [LuaParameter("…", .variadic(.any))]

        globals.rawSet(
            "print",
            .function(
                state.makeFunction(LuaFunctionDeclaration("print", variadic)) { [unowned host] call in
                    var line: [UInt8] = []
                    for (index, value) in call.allValues.enumerated() {
                        if index > 0 { line.append(UInt8(ascii: "\t")) }
                        line += try text(of: value, in: call.state)
                    }
                    line.append(UInt8(ascii: "\n"))
                    if try call.state.countOutput(line.count) { host.output.write(line) }
                    return 0
                }))

        installRequire(in: host, modules: modules)
        if case .table(let io) = globals.rawGet("io") { installIO(io, in: host) }
        if case .table(let os) = globals.rawGet("os") { installOS(os, in: host) }
    }

    /// As `tostring` shows a value; what its `__tostring` raises is raised.
    static func text(of value: LuaValue, in state: LuaState) throws -> [UInt8] {
        switch value {
        case .string(let string): return string.bytes
        case .table, .userdata:
            guard case .function(let tostring) = state.globals.rawGet("tostring"),
                case .string(let text)? = try tostring.call(value).first
            else { return [] }
            return text.bytes
        default: return state.describe(value).bytes
        }
    }

    // MARK: require

    /// `require "cubby"`, then modules in Lua from the script's folder and the container's scripts. Each runs once.
    private static func installRequire(in host: ScriptHost, modules: [(String, LuaValue)]) {
        let state = host.state
        let loaded = state.makeTable(fields: 16)
        let all = state.makeTable(fields: modules.count)
        for (name, value) in modules { all.rawSet(.text(name), value) }
        loaded.rawSet("cubby", .table(all))
        for name in ["coroutine", "table", "string", "math", "utf8", "os", "io"] {
            loaded.rawSet(.text(name), state.globals.rawGet(.text(name)))
        }
        let declaration = LuaFunctionDeclaration(
            "require", [LuaParameter("module", .text, "dots separate folders")], returns: [.any],
            "A module: loaded once from the script's folder or from Library/Scripts.")
        let require = state.makeFunction(declaration) { [unowned host] call in
            let name = try call.text(0)
            let known = loaded.rawGet(.text(name))
            if !known.isNil { return call.returns(known) }
            guard !name.isEmpty, !name.contains("/"), !name.contains("\0"), !name.split(separator: ".").isEmpty else {
                throw call.refuse(0, "'\(name)' is no module's name")
            }
            let file = name.split(separator: ".").joined(separator: "/")
            var tried: [String] = []
            for folder in host.modulePaths {
                for candidate in ["\(file).lua", "\(file)/init.lua"] {
                    let path = PathText.join(folder, candidate)
                    guard let source = try? host.moduleFence.layer.contents(of: path, limit: 64 << 20) else {
                        tried.append("\n\tno file '\(DisplayPath.abbreviate(path))'")
                        continue
                    }
                    let shown = DisplayPath.abbreviate(path)
                    host.sources.remember(String(decoding: source, as: UTF8.self), as: shown)
                    let chunk = try call.state.load(ScriptHost.withoutShebang(source), name: "@" + shown)
                    let result = try chunk.call(.text(name), .text(shown)).first ?? .nil
                    let value =
                        result.isNil ? (loaded.rawGet(.text(name)).isNil ? true : loaded.rawGet(.text(name))) : result
                    loaded.rawSet(.text(name), value)
                    return try call.returns(values: [value, .text(shown)])
                }
            }
            throw LuaError(.runtime, "module '\(name)' not found:\(tried.joined())")
        }
        state.globals.rawSet("require", .function(require))
    }

    // MARK: io

    private static func installIO(_ io: LuaTable, in host: ScriptHost) {
        let state = host.state
        func define(
            _ name: String, _ parameters: [LuaParameter], _ results: [LuaType], _ documentation: String,
            _ body: @escaping (LuaCall) throws -> Int32
        ) {
            let declaration = LuaFunctionDeclaration(name, parameters, returns: results, documentation)
            io.rawSet(.text(name), .function(state.makeFunction(declaration, owner: "io.", body: body)))
        }
        let path = LuaParameter("path", .text, "a path that the sandbox grants")
        define(
            "open", [path, LuaParameter("mode", .optional(.text), "as C's fopen; \"r\" if not given")], [.any],
            "Opens a file; nil and an error when it can't be."
        ) { [unowned host] call in
            let mode = try call.optional(1, call.text) ?? "r"
            guard let access = FileMode(mode) else { throw call.refuse(1, "invalid mode '\(mode)'") }
            do { return call.returns(try open(call, try call.text(0), access, mode, host)) } catch let error
                as FileError
            {
                return call.returns(failure: error)
            }
        }
        define(
            "lines", [path, LuaParameter("…", .variadic(.any), "formats, as for file:read")], [.function],
            "An iterator over a file's lines; raises when the file can't be opened."
        ) { [unowned host] call in
            let formats = call.values(from: 1)
            let file: LuaValue
            do { file = try open(call, try call.text(0), .read, "r", host) } catch let error as FileError {
                throw LuaError(.runtime, error.message)
            }
            guard case .function(let lines) = try call.state.field("lines", of: file) else { return 0 }
            return try call.returns(values: lines.call(arguments: [file] + formats))
        }
        define(
            "write", [LuaParameter("…", .variadic(.any), "strings and numbers")], [.any],
            "Writes to standard output."
        ) { [unowned host] call in
            for (position, value) in call.allValues.enumerated() {
                switch value {
                case .string, .integer, .number:
                    let text = call.state.describe(value).bytes
                    if try call.state.countOutput(text.count) { host.output.write(text) }
                default: throw call.refuse(position, "string expected, got \(value.typeName)")
                }
            }
            return call.returns(io.rawGet("stdout"))
        }
    }

    /// What a mode of fopen's asks for.
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
        let file = try layer.open(path, access, permissions: 0o644)
        if text.hasPrefix("w") { try layer.truncate(file, to: 0) }
        guard let value = call.state.makeFile(file.descriptor, mode: text) else {
            layer.close(file)
            throw FileError(.open, path, code: EMFILE)
        }
        return value
    }

    // MARK: os

    private static func installOS(_ os: LuaTable, in host: ScriptHost) {
        let state = host.state
        func define(
            _ name: String, _ parameters: [LuaParameter], _ documentation: String,
            _ body: @escaping (LuaCall) throws -> Int32
        ) {
            let declaration = LuaFunctionDeclaration(name, parameters, returns: [.any], documentation)
            os.rawSet(.text(name), .function(state.makeFunction(declaration, owner: "os.", body: body)))
        }
        define(
            "exit",
            [
                LuaParameter("code", .optional(.union([.boolean, .integer]))),
                LuaParameter("close", .optional(.boolean)),
            ],
            "Ends the application in order: the items are saved first."
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
        define(
            "remove", [LuaParameter("path", .text)],
            "Removes a file, or an empty folder; nil and an error when it can't."
        ) {
            [unowned host] call in
            let path = try call.text(0)
            return try FileSystemModule.attempt(call, host, path, .readWrite) { layer in
                if try layer.status(path)?.kind == .directory {
                    try layer.removeDirectory(path)
                } else {
                    try layer.remove(path)
                }
                return call.returns(true)
            }
        }
        define(
            "rename", [LuaParameter("from", .text), LuaParameter("to", .text)],
            "Renames a file; nil and an error when it can't."
        ) {
            [unowned host] call in
            let (from, to) = (try call.text(0), try call.text(1))
            return try FileSystemModule.attempt(call, host, from, .readWrite) { layer in
                try layer.rename(from, to: to)
                return call.returns(true)
            }
        }
        define("tmpname", [], "A path for a new file in the container's tmp.") { [unowned host] call in
            call.returns(PathText.join(host.container.tmp, UUIDModule.make()))
        }
    }
}
