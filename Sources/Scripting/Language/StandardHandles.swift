import Files
import Glibc
import Lua

/// The handles of the standard streams: their methods read and write where `io.read`, `print` and `io.write` do, with the
/// results of Lua's own.
enum StandardHandles {
    private static let outputs: Set = [1, 2]

    static func install(in host: ScriptHost) {
        method("write", of: outputs, in: host) { [unowned host] call, stream in
            try write(call, toStandardError: stream == 2, host) ?? call.returns(call.value(-1))
        }
        method("flush", of: outputs, in: host) { [unowned host] call, stream in
            try returning(call, call.value(-1)) { () throws(FileError) in try host.output.stream(stream == 2).flush() }
        }
        method("setvbuf", of: [0, 1, 2], in: host) { [unowned host] call, stream in
            let size = try call.optional(1, call.integer) ?? 1 << 13
            let modes: [String: StandardStream.Buffering] = [
                "no": .none, "line": .line, "full": .full(Int(min(max(size, 1), 1 << 20))),
            ]
            guard let mode = modes[try call.text(0)] else {
                throw call.refuse(0, "invalid option '\(try call.text(0))'")
            }
            return try returning(call, .boolean(true)) { () throws(FileError) in
                // An attached prompt's output is not buffered, and the host's own is not its.
                guard stream > 0, host.output.entry == nil else { return }
                try host.output.stream(stream == 2).setBuffering(mode)
            }
        }
        method("seek", of: [0, 1, 2], in: host) { [unowned host] call, stream in
            let origins = ["set": SEEK_SET, "cur": SEEK_CUR, "end": SEEK_END]
            let name = try call.optional(0, call.text) ?? "cur"
            guard let origin = origins[name] else { throw call.refuse(0, "invalid option '\(name)'") }
            let offset = Int(try call.optional(1, call.integer) ?? 0)
            do throws(FileError) {
                if stream == 0 { return call.returns(try host.input.seek(offset, origin)) }
                guard host.output.entry == nil else { throw FileError(.write, "an attached prompt", code: ESPIPE) }
                return call.returns(try host.output.stream(stream == 2).seek(offset, origin))
            } catch { return try failure(error, call) }
        }
        method("read", of: [0], in: host) { [unowned host] call, _ in
            try host.input.read(try formats(of: call), for: call)
        }
        method("lines", of: [0], in: host) { [unowned host] call, _ in
            let formats = try formats(of: call)
            return call.returns(ownedFunction: { [unowned host] call in
                try host.input.read(formats, for: call, raises: true)
            })
        }
    }

    /// The formats of a read.
    private static func formats(of call: LuaCall) throws -> [InputBuffer.Format] {
        try (0..<call.count).map { position in
            if case .integer(let count) = call.value(position), count >= 0 { return .count(Int(count)) }
            if call.isNumber(position) {
                let count = try call.integer(position)
                guard count >= 0 else { throw call.refuse(position, "a number of bytes from 0 expected, got \(count)") }
                return .count(Int(count))
            }
            let bytes = try call.bytes(position)
            switch bytes.first == UInt8(ascii: "*") ? bytes.dropFirst().first : bytes.first {
            case UInt8(ascii: "n"): return .number
            case UInt8(ascii: "l"): return .line(keepsEnd: false)
            case UInt8(ascii: "L"): return .line(keepsEnd: true)
            case UInt8(ascii: "a"): return .all
            default: throw call.refuse(position, "invalid format")
            }
        }
    }

    /// Writes the arguments; those before an unsuitable one, as Lua's own functions do.
    ///
    /// - Returns: the results of a failure; nil when all is written.
    static func write(_ call: LuaCall, toStandardError: Bool, _ host: ScriptHost) throws -> LuaResults? {
        var text: [UInt8] = []
        var mismatch: (any Error)?
        for position in 0..<call.count {
            let value = call.value(position)
            switch value {
            case .string(let string): text += string.bytes
            case .integer, .number: text += call.state.describe(value).bytes
            default:
                // An error that a function returned passes for its text.
                if let its = value.errorText {
                    text += its.utf8
                } else {
                    mismatch = call.refuse(position, "string expected, got \(value.typeName)")
                }
            }
            if mismatch != nil { break }
        }
        if !text.isEmpty, try call.state.countOutput(text.count) {
            do throws(FileError) { try host.output.write(text, toStandardError: toStandardError) } catch {
                return try failure(error, call)
            }
        }
        if let mismatch { throw mismatch }
        return nil
    }

    private static func method(
        _ name: String, of streams: Set<Int>, in host: ScriptHost,
        _ body: @escaping (LuaCall, _ stream: Int64) throws -> LuaResults
    ) {
        let declaration = LuaFunctionDeclaration(name, [LuaParameter("…", .variadic(.any))])
        // `read` is io.read, too.
        let function = host.state.makeFunction(declaration, owner: name == "read" ? "" : "file:", base: 3) { call in
            try body(call, call.integer(-2))
        }
        try? host.state.takeStream(name, of: streams, function)
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
