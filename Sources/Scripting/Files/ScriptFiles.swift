package import Application
package import Files
import Glibc
package import Items
import Logging
package import Lua
package import PropertyList
import SQLite

/// Files within the fence, for functions of scripts. An error of the file system is returned as the result.
extension ScriptHost {
    /// The size in bytes from which a file is not read into memory.
    package static let readLimit = 1 << 30

    /// Requests the user's consent at the prompt, once for each path, unless it is granted.
    package func askConsent(_ path: String, _ access: FenceAccess) throws(FileError) {
        // With the kernel's fence in force, consent would have no effect.
        guard !path.isEmpty, !PathText.isTooLong(path), options.isInteractive, fences.kernelABI == nil,
            let frontEnd = activeFrontEnd,
            case .notGranted(let absolute) = fence.verdict(path, access)
        else {
            return
        }
        switch frontEnd.consent(to: access == .read ? .reading : .writing, path: absolute) {
        case .yes: try fence.grantConsent(access == .read ? absolute : PathText.parent(of: absolute), access)
        case .folder: try fence.grantConsent(PathText.parent(of: absolute), access)
        case .no: break
        }
    }

    /// Caches and tmp may be emptied at any time, folders included: recreates the folders before a write.
    package func recreatingFolders<Result>(
        _ path: String, _ access: FenceAccess, _ body: () throws -> Result
    ) throws -> Result {
        do {
            return try body()
        } catch let error as FileError where error.code == ENOENT && access == .readWrite {
            let absolute = PathText.absolute(path, from: fence.base)
            guard [container.caches, container.tmp].contains(where: { absolute.hasPrefix($0 + "/") }),
                !PosixFileLayer().exists(PathText.parent(of: absolute))
            else { throw error }
            try container.create()
            return try body()
        }
    }

    /// Runs a body on the fenced files.
    package func attempt<Value>(
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
    package func read<Value, Rejection: LuaErrorDetails>(
        _ path: String, refusing type: Rejection.Type, _ decode: ([UInt8]) throws -> Value
    ) throws -> OrError<Value> {
        try attempt(path, .read) { layer in
            let bytes = try layer.contents(of: path, limit: ScriptHost.readLimit)
            do { return try decode(bytes) } catch let error as Rejection { throw LocatedError(error, path) }
        }
    }

    /// Removes a file or an empty folder.
    package func remove(_ path: String) throws -> OrError<Bool> {
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
    package func write(_ bytes: [UInt8], to path: String) throws -> OrError<Bool> {
        switch StandardDescriptor.descriptor(of: path) {
        case StandardDescriptor.output, StandardDescriptor.error:
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

// MARK: What a conversion loses

extension ScriptHost {
    /// Says what a function leaves out: in the log, or with `--strict` as an error of the script.
    package func report(loss: String, kind: LuaError.Kind = .argument) throws(LuaError) {
        if options.isStrict { throw LuaError(kind, "with --strict: \(loss)") }
        logger.warning("\(loss)")
    }

    /// The property list in another form; what XML loses of it is reported.
    package func propertyList(_ binary: [UInt8], as format: PropertyListFormat) throws -> [UInt8] {
        guard format == .xml else { return binary }
        let (xml, loss) = try BinaryPropertyListReader(binary).xmlSayingLoss()
        if let loss { try report(loss: loss) }
        return xml
    }
}

/// Files that a script's function reads more than once.
package enum FileInput {
    /// Runs a body with an open file. `-` and `/dev/stdin` are standard input, which is spooled first: into the
    /// container's temporary folder, or into memory where the container is only read.
    package static func read<Value>(
        _ host: ScriptHost, _ path: String, _ body: (OpenFile, any FileLayer) throws -> Value
    ) throws -> OrError<Value> {
        if path == "-" || StandardDescriptor.descriptor(of: path) == StandardDescriptor.input {
            return try OrError(returning: FileError.self) {
                try spooling(host, path, { try Array(host.input.readInPlace(1 << 18)) }, body)
            }
        }
        return try host.attempt(path, .read) { layer in
            if try layer.status(path)?.kind == .other {
                let pipe = try layer.open(path, .stream)
                defer { layer.close(pipe) }
                return try spooling(host, path, { try read(pipe) }, body)
            }
            let file = try layer.open(path, .read)
            defer { layer.close(file) }
            return try body(file, layer)
        }
    }

    /// The next bytes of a pipe; none at its end. Waits for a writer, as long as nothing interrupts the work.
    private static func read(_ pipe: OpenFile) throws -> [UInt8] {
        while true {
            if Interruption.isDue { throw WorkStopped() }
            var poll = pollfd(fd: pipe.descriptor, events: Int16(POLLIN), revents: 0)
            let ready = Glibc.poll(&poll, 1, 100)
            if ready < 0, errno != EINTR { throw FileError(.read, pipe.path, code: errno) }
            if ready <= 0 { continue }
            var bytes = [UInt8](repeating: 0, count: 1 << 16)
            let count = Glibc.read(pipe.descriptor, &bytes, bytes.count)
            if count >= 0 { return Array(bytes[..<count]) }
            if errno != EINTR, errno != EAGAIN { throw FileError(.read, pipe.path, code: errno) }
        }
    }

    /// Runs a body with all of a stream as a file without a name. One in memory counts as the script's memory.
    private static func spooling<Value>(
        _ host: ScriptHost, _ path: String, _ next: () throws -> [UInt8],
        _ body: (OpenFile, any FileLayer) throws -> Value
    ) throws -> Value {
        let layer = PosixFileLayer()
        let memory = host.options.isReadOnly ? SQLiteMemory() : nil
        let file = try memory == nil ? temporaryFile(host, layer) : layer.openInMemory(path)
        defer { layer.close(file) }
        var count = 0
        while case let bytes = try next(), !bytes.isEmpty {
            count += bytes.count
            do throws(SQLiteError) { try memory?.hold(count) } catch {
                throw FileError(
                    .read, path, code: FileLayerCode.noMemory,
                    reason: "it is larger than the memory that the script may use")
            }
            try layer.writeAll(bytes.span.bytes, to: file)
        }
        return try body(file, layer)
    }

    private static func temporaryFile(_ host: ScriptHost, _ layer: PosixFileLayer) throws(FileError) -> OpenFile {
        let path = PathText.join(host.container.tmp, TemporaryName.next())
        let file = try layer.open(path, .update, permissions: 0o600)
        try? layer.remove(path)
        return file
    }
}

/// Files that a script's function writes in pieces, so that memory does not limit their size.
package enum FileOutput {
    /// Runs a body that writes a file: a regular one atomically and durably, a granted device or pipe directly.
    /// `-` and `/dev/stdout` are standard output, which counts as printed.
    package static func write<Value>(
        _ host: ScriptHost, _ path: String,
        _ body: (_ append: @escaping (UnsafeRawBufferPointer) throws -> Void) throws -> Value
    ) throws -> OrError<Value> {
        if path == "/dev/null" { return .success(try body { _ in }) }
        let (output, error) = (StandardDescriptor.output, StandardDescriptor.error)
        let descriptor = path == "-" ? output : StandardDescriptor.descriptor(of: path)
        guard let descriptor, descriptor == output || descriptor == error else {
            return try host.attempt(path, .readWrite) { try FileTarget.write(to: path, using: $0, body) }
        }
        return try OrError(returning: FileError.self) {
            let result = try body { [unowned host] bytes in
                guard try host.state.countOutput(bytes.count) else { return }
                try host.output.write(Array(bytes), toStandardError: descriptor == error)
            }
            try host.output.stream(descriptor == error).flush()
            if descriptor == output { host.output.hasData = true }
            return result
        }
    }
}

/// What functions for files of items have in common: options, and long work.
package enum ItemFiles {
    package static let path: LuaArgument = "the file's path; - is the standard stream"
    package static let delimiter: LuaArgument = "the separator of CSV cells (default: a comma; for .tsv a tab)"
    package static let progress: LuaArgument = "whether to show a progress bar on a terminal"

    /// The byte that separates cells.
    package static func delimiter(_ text: String) throws(LuaMismatch) -> UInt8 {
        guard text.utf8.count == 1, let byte = text.utf8.first else {
            throw LuaMismatch("option 'delimiter': one ASCII character expected, got '\(text)'", argument: "options")
        }
        return byte
    }

    /// Returns the body's result, or an error of the store or a database as a result.
    package static func finish<Value>(_ body: () throws -> OrError<Value>) throws -> OrError<Value> {
        do {
            return try body()
        } catch let error as StoreError where !error.code.isProgrammerError {
            return .failure(error)
        } catch let error as SQLiteError {
            if error.code == .interrupted { throw WorkStopped() }
            return .failure(error)
        }
    }

    /// Runs long work that Ctrl-C and time limits interrupt, with an optional progress bar.
    package static func work<Result>(
        _ options: inout ItemFileOptions, _ verb: String, showsBar: Bool, in runtime: Runtime,
        _ body: (ItemFileOptions) throws -> Result
    ) throws -> Result {
        let checkpoint = try runtime.state.load(Array("".utf8), name: "=checkpoint")
        // Streamed input is counted in bytes; everything else in items.
        let isStream = verb == "Importing" && [.csv, .tsv, .jsonLines].contains(options.format)
        var bar: ProgressBar?
        defer { bar?.finish(runtime.output) }
        options.progress = { done, total in
            // The VM checks for interrupts when it enters a function.
            _ = try checkpoint.call()
            guard showsBar else { return }
            let shown = bar ?? ProgressBar(total: Int64(total), label: verb, unit: isStream ? .bytes : .steps)
            bar = shown
            shown.show(Int64(done), runtime.output)
        }
        return try body(options)
    }
}

/// Connections within the fence, for functions of scripts.
extension ScriptHost {
    /// The fence that checks each connection of a script.
    package var network: NetworkFence { sandbox.network }

    /// Checks that a target is granted, and requests the user's consent at the prompt otherwise.
    ///
    /// - Throws: `NetworkDenial` that names the missing grant.
    package func checkConnection(to endpoint: NetworkEndpoint) throws(NetworkDenial) {
        // With the kernel's fence in force, consent would have no effect.
        if !network.permits(endpoint), options.isInteractive, fences.kernelABI == nil,
            activeFrontEnd?.consent(toConnect: endpoint) == true
        {
            network.grant(NetworkGrant(endpoint))
        }
        try network.check(endpoint)
    }
}
