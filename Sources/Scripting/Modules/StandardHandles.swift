import Files
import Glibc
import Lua

/// The handles of standard output and standard error: their methods write where `print` and `io.write` do, with the
/// results of Lua's own.
enum StandardHandles {
    static func install(in host: ScriptHost) {
        method("write", in: host) { [unowned host] call, isError in
            try write(call, toStandardError: isError, host) ?? call.returns(call.value(-1))
        }
        method("flush", in: host) { [unowned host] call, isError in
            try returning(call, call.value(-1)) { () throws(FileError) in try host.output.stream(isError).flush() }
        }
        method("setvbuf", in: host) { [unowned host] call, isError in
            let size = try call.optional(1, call.integer) ?? 1 << 13
            let modes: [String: StandardStream.Buffering] = [
                "no": .none, "line": .line, "full": .full(Int(min(max(size, 1), 1 << 20))),
            ]
            guard let mode = modes[try call.text(0)] else {
                throw call.refuse(0, "invalid option '\(try call.text(0))'")
            }
            return try returning(call, .boolean(true)) { () throws(FileError) in
                try host.output.stream(isError).setBuffering(mode)
            }
        }
        method("seek", in: host) { [unowned host] call, isError in
            let origins = ["set": SEEK_SET, "cur": SEEK_CUR, "end": SEEK_END]
            let name = try call.optional(0, call.text) ?? "cur"
            guard let origin = origins[name] else { throw call.refuse(0, "invalid option '\(name)'") }
            let offset = try call.optional(1, call.integer) ?? 0
            do throws(FileError) {
                return call.returns(try host.output.stream(isError).seek(Int(offset), origin))
            } catch { return try failure(error, call) }
        }
    }

    /// Writes the arguments; those before an unsuitable one, as Lua's own functions do.
    ///
    /// - Returns: the results of a failure; nil when all is written.
    static func write(_ call: LuaCall, toStandardError: Bool, _ host: ScriptHost) throws -> LuaResults? {
        var text: [UInt8] = []
        var refusal: (any Error)?
        for position in 0..<call.count {
            let value = call.value(position)
            switch value {
            case .string(let string): text += string.bytes
            case .integer, .number: text += call.state.describe(value).bytes
            default: refusal = call.refuse(position, "string expected, got \(value.typeName)")
            }
            if refusal != nil { break }
        }
        if !text.isEmpty, try call.state.countOutput(text.count) {
            do throws(FileError) { try host.output.write(text, toStandardError: toStandardError) } catch {
                return try failure(error, call)
            }
        }
        if let refusal { throw refusal }
        return nil
    }

    private static func method(
        _ name: String, in host: ScriptHost, _ body: @escaping (LuaCall, _ isError: Bool) throws -> LuaResults
    ) {
        let declaration = LuaFunctionDeclaration(name, [LuaParameter("…", .variadic(.any))])
        let function = host.state.makeFunction(declaration, owner: "file:", base: 3) { call in
            try body(call, call.boolean(-2))
        }
        try? host.state.takeStream(name, function)
    }

    private static func returning(
        _ call: LuaCall, _ value: LuaValue, _ body: () throws(FileError) -> Void
    ) throws -> LuaResults {
        do throws(FileError) { try body() } catch { return try failure(error, call) }
        return call.returns(value)
    }

    /// What Lua's own functions return: nil, the system's text and its number.
    private static func failure(_ error: FileError, _ call: LuaCall) throws -> LuaResults {
        try call.returns(values: [.nil, .text(error.reason), .integer(Int64(error.code))])
    }
}
