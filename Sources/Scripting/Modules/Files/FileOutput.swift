import Application
import Files
import Lua

/// Files that a script's function writes in pieces, so that memory does not limit their size.
enum FileOutput {
    /// Runs a body that writes a file: a regular one atomically and durably, a granted device or pipe directly.
    /// `-` and `/dev/stdout` are standard output, which counts as printed.
    static func write<Value>(
        _ host: ScriptHost, _ path: String,
        _ body: (_ append: @escaping (UnsafeRawBufferPointer) throws -> Void) throws -> Value
    ) throws -> OrError<Value> {
        if path == "/dev/null" { return .success(try body { _ in }) }
        let descriptor = path == "-" ? 1 : OwnStream.descriptor(of: path)
        guard let descriptor, descriptor == 1 || descriptor == 2 else {
            return try host.attempt(path, .readWrite) { try FileTarget.write(to: path, using: $0, body) }
        }
        return try OrError(returning: FileError.self) {
            let result = try body { [unowned host] bytes in
                guard try host.state.countOutput(bytes.count) else { return }
                try host.output.write(Array(bytes), toStandardError: descriptor == 2)
            }
            try host.output.stream(descriptor == 2).flush()
            if descriptor == 1 { host.output.hasData = true }
            return result
        }
    }
}
