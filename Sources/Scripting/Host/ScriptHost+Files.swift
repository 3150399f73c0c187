import Application
import Files
import Lua

/// Files within the fence, for functions of scripts. An error of the file system is returned as the result.
extension ScriptHost {
    /// Runs a body on the fenced files.
    func attempt<Value>(
        _ path: String, _ access: FenceAccess, _ body: (FencedFileLayer) throws -> Value
    ) throws -> OrError<Value> {
        do {
            try askConsent(path, access)
            // Checked before the file is accessed: that error would suggest to allow reading.
            try fence.check(path, access)
            return .success(try recreatingFolders(path, access) { try body(fence.layer) })
        } catch  where error is FileError || error is LocatedError {
            return .failure(error)
        }
    }

    /// Reads a file in a format; the format's errors get the file's path.
    func read<Value, Refusal: LuaErrorDetails>(
        _ path: String, refusing type: Refusal.Type, _ decode: ([UInt8]) throws -> Value
    ) throws -> OrError<Value> {
        try attempt(path, .read) { layer in
            let bytes = try layer.contents(of: path, limit: FileSystemModule.readLimit)
            do { return try decode(bytes) } catch let error as Refusal { throw LocatedError(error, path) }
        }
    }

    /// Removes a file or an empty folder.
    func remove(_ path: String) throws -> OrError<Bool> {
        try attempt(path, .readWrite) { layer in
            if try layer.status(path)?.kind == .directory {
                try layer.removeDirectory(path)
            } else {
                try layer.remove(path)
            }
            return true
        }
    }

    /// Writes a whole file: a regular one atomically and durably, a granted device or pipe directly. The process's own
    /// streams need no grant: their output counts as printed.
    func write(_ bytes: [UInt8], to path: String) throws -> OrError<Bool> {
        switch OwnStream.descriptor(of: path) {
        case 1, 2:
            guard try state.countOutput(bytes.count) else { return .success(true) }
            let isError = path.hasSuffix("err") || path.hasSuffix("2")
            return try OrError(returning: FileError.self) {
                try output.write(bytes, toStandardError: isError)
                try output.stream(isError).flush()
                if !isError { output.hasData = true }
                return true
            }
        case _ where path == "/dev/null": break
        default:
            return try attempt(path, .readWrite) { layer in
                try FileTarget.write(bytes, to: path, using: layer)
                return true
            }
        }
        return .success(true)
    }
}
