import Application
import Files
import PropertyList

/// Files that a script's function reads more than once.
enum FileInput {
    /// Runs a body with an open file. `-` and `/dev/stdin` are standard input, which is spooled into the container's
    /// temporary folder first.
    static func read<Value>(
        _ host: ScriptHost, _ path: String, _ body: (OpenFile, any FileLayer) throws -> Value
    ) throws -> OrError<Value> {
        if path == "-" || OwnStream.descriptor(of: path) == 0 {
            return try OrError(returning: FileError.self) {
                let (file, layer) = (try spool(host), PosixFileLayer())
                defer { layer.close(file) }
                return try body(file, layer)
            }
        }
        return try host.attempt(path, .read) { layer in
            let file = try layer.open(path, .read)
            defer { layer.close(file) }
            return try body(file, layer)
        }
    }

    /// All of standard input as a file without a name.
    private static func spool(_ host: ScriptHost) throws -> OpenFile {
        let layer = PosixFileLayer()
        let path = PathText.join(host.container.tmp, TemporaryName.next())
        let file = try layer.open(path, .update, permissions: 0o600)
        try? layer.remove(path)
        do {
            while true {
                let bytes = try host.input.readInPlace(1 << 18)
                if bytes.isEmpty { return file }
                try Array(bytes).withUnsafeBytesThrowing { (bytes) throws(FileError) in
                    try layer.writeAll(bytes, to: file)
                }
            }
        } catch {
            layer.close(file)
            throw error
        }
    }
}
