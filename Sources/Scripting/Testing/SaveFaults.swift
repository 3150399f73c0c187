package import Files
import Glibc
package import Lua
import Synchronization
package import Wording

/// Failures that a test puts into the next save, and the steps of it at which a process can be killed.
package final class SaveFaults: Sendable {
    /// A step of a save, by what is done at it.
    package enum Step: String, CaseIterable, Sendable {
        /// Half of the new archive is written.
        case write
        /// The new archive is written, and not on the disk yet.
        case sync
        /// It is on the disk, under its temporary name.
        case rename
        /// It is in its place, and the old journal beside it.
        case journal
    }

    private struct State {
        var failure: String?
        var killStep: Step?
        var wasKilled = false
        var onKill: (@Sendable () -> Void)?
        /// The temporary names of the journal.
        var journals: Set<String> = []
    }

    private let state = Mutex(State())

    package init() {}

    /// Makes the next save fail.
    package func failNextSave(_ reason: String) { state.withLock { $0.failure = reason } }

    /// Kills at a step of the next save.
    package func kill(at step: Step) { state.withLock { $0.killStep = step } }

    /// Whether the process is as if killed.
    package var wasKilled: Bool { state.withLock { $0.wasKilled } }

    /// The fault that no save has met yet, as a script sets it; nil for none.
    package var pending: String? {
        state.withLock { state in
            state.failure.map { "fault.save(\"\($0)\")" } ?? state.killStep.map { "fault.kill(\"\($0.rawValue)\")" }
        }
    }

    /// Sets what is called at the kill, on the thread of that step, before anything else happens.
    package func onKill(_ body: @escaping @Sendable () -> Void) { state.withLock { $0.onKill = body } }

    /// What a layer does at a step.
    fileprivate enum Verdict {
        case proceed, kill
        case fail(String)
    }

    fileprivate func verdict(_ step: Step) -> Verdict {
        state.withLock { state in
            if state.wasKilled { return .kill }
            if step == .write, let reason = state.failure {
                state.failure = nil
                return .fail(reason)
            }
            guard state.killStep == step else { return .proceed }
            state.killStep = nil
            return .kill
        }
    }

    /// Ends the process, as far as files can tell.
    fileprivate func die() {
        let body = state.withLock { state in
            defer { state.wasKilled = true }
            return state.wasKilled ? nil : state.onKill
        }
        body?()
    }

    fileprivate func addJournal(_ name: String) { state.withLock { _ = $0.journals.insert(name) } }

    /// Whether a path is that of an archive that is being written.
    fileprivate func isNewArchive(_ path: String) -> Bool {
        let name = PathText.name(of: path)
        return TemporaryName.matches(name) && PathText.name(of: PathText.parent(of: path)) == "Documents"
            && !state.withLock { $0.journals.contains(name) }
    }
}

/// The file system of a container's items under test, which fails or ends where ``SaveFaults`` says so.
package struct TestedFileLayer: FileLayer {
    private let real: any FileLayer
    private let faults: SaveFaults

    package init(_ real: any FileLayer, _ faults: SaveFaults) { (self.real, self.faults) = (real, faults) }

    private static let killed = "the process was killed"

    /// The real file system, while the process lives.
    private func alive(_ operation: FileError.Operation, _ path: String) throws(FileError) -> any FileLayer {
        if faults.wasKilled { throw FileError(operation, path, code: EIO, reason: Self.killed) }
        return real
    }

    private func step(_ step: SaveFaults.Step, _ operation: FileError.Operation, _ path: String) throws(FileError) {
        switch faults.verdict(step) {
        case .proceed: break
        case .kill:
            faults.die()
            throw FileError(operation, path, code: EIO, reason: Self.killed)
        case .fail(let reason): throw FileError(operation, path, code: EIO, reason: reason)
        }
    }

    private func write(
        _ bytes: RawSpan, to file: OpenFile, _ body: (RawSpan) throws(FileError) -> Void
    ) throws(FileError) {
        guard faults.isNewArchive(file.path) else {
            _ = try alive(.write, file.path)
            return try body(bytes)
        }
        do throws(FileError) { try step(.write, .write, file.path) } catch {
            try body(bytes.extracting(first: bytes.byteCount / 2))
            throw error
        }
        try body(bytes)
    }

    package func temporaryName() -> String {
        let name = real.temporaryName()
        faults.addJournal(name)
        return name
    }

    package func open(_ path: String, _ access: FileAccess, permissions: UInt32) throws(FileError) -> OpenFile {
        try (access == .read ? real : alive(.open, path)).open(path, access, permissions: permissions)
    }

    package func writeAll(_ bytes: RawSpan, to file: OpenFile) throws(FileError) {
        try write(bytes, to: file) { bytes throws(FileError) in try real.writeAll(bytes, to: file) }
    }

    package func writeAll(_ bytes: RawSpan, to file: OpenFile, at offset: Int) throws(FileError) {
        try write(bytes, to: file) { bytes throws(FileError) in try real.writeAll(bytes, to: file, at: offset) }
    }

    package func sync(_ file: OpenFile) throws(FileError) {
        let real = try alive(.sync, file.path)
        if faults.isNewArchive(file.path) { try step(.sync, .sync, file.path) }
        try real.sync(file)
    }

    package func rename(_ source: String, to target: String) throws(FileError) {
        let real = try alive(.rename, target)
        switch PathText.name(of: target) {
        case "items.archive": try step(.rename, .rename, target)
        case "items.journal" where real.exists(PathText.join(PathText.parent(of: target), "items.archive")):
            try step(.journal, .rename, target)
        default: break
        }
        try real.rename(source, to: target)
    }

    package func rename(_ source: String, toNew target: String) throws(FileError) {
        try alive(.rename, target).rename(source, toNew: target)
    }

    package func syncData(_ file: OpenFile) throws(FileError) {
        try alive(.sync, file.path).syncData(file)
    }

    package func truncate(_ file: OpenFile, to size: Int) throws(FileError) {
        try alive(.truncate, file.path).truncate(file, to: size)
    }

    package func setPermissions(_ file: OpenFile, to permissions: UInt32) throws(FileError) {
        try alive(.setPermissions, file.path).setPermissions(file, to: permissions)
    }

    package func link(_ source: String, to target: String) throws(FileError) {
        try alive(.link, target).link(source, to: target)
    }

    package func remove(_ path: String) throws(FileError) {
        try alive(.remove, path).remove(path)
    }

    package func removeDirectory(_ path: String) throws(FileError) {
        try alive(.remove, path).removeDirectory(path)
    }

    package func syncDirectory(_ path: String) throws(FileError) {
        try alive(.sync, path).syncDirectory(path)
    }

    package func makeDirectory(_ path: String, permissions: UInt32) throws(FileError) {
        try alive(.makeDirectory, path).makeDirectory(path, permissions: permissions)
    }

    package func beneath(_ folder: String) throws(FileError) -> any FileLayer {
        TestedFileLayer(try real.beneath(folder), faults)
    }

    package func close(_ file: OpenFile) { real.close(file) }

    package func discard(_ file: OpenFile) { real.discard(file) }

    package func read(_ file: OpenFile, into buffer: UnsafeMutableRawBufferPointer) throws(FileError) -> Int {
        try real.read(file, into: buffer)
    }

    package func read(
        _ file: OpenFile, at offset: Int, into buffer: UnsafeMutableRawBufferPointer
    ) throws(FileError) -> Int {
        try real.read(file, at: offset, into: buffer)
    }

    package func beginSync(_ file: OpenFile) { real.beginSync(file) }

    package func status(_ file: OpenFile) throws(FileError) -> FileStatus { try real.status(file) }

    package func map(_ file: OpenFile) throws(FileError) -> MappedFile { try real.map(file) }

    package func status(_ path: String) throws(FileError) -> FileStatus? { try real.status(path) }

    package func linkTarget(_ path: String) throws(FileError) -> String { try real.linkTarget(path) }

    package func list(_ path: String) throws(FileError) -> [String] { try real.list(path) }
}

/// What takes the place of programs and of the network for a host under test.
package final class Replacements {
    /// Functions in place of programs, by name.
    package var programs: NameTable<LuaFunction> = [:]
    /// Answers requests in place of their servers; nil for the network. It gets a table with `method`, `url`, `headers` and
    /// `body`, and returns one with `status`, `headers` and `body`, or nil and the text of a failure.
    package var http: LuaFunction?
    /// Its clock, its tests and its faults; nil for a host that is not under test.
    package var scene: TestScene?

    /// The replacement of the program that a command starts; nil for none.
    func program(of command: String, for function: String) -> ReplacedProgram? {
        guard !programs.isEmpty, let word = command.split(whereSeparator: \.isWhitespace).first else { return nil }
        let name = String(word)
        guard let body = programs[name] ?? programs[PathText.name(of: name)] else { return nil }
        if let words = try? CommandWords.split(command, for: function) {
            return ReplacedProgram(body: body, arguments: Array(words.dropFirst()))
        }
        // A shell would read it.
        let rest = command.drop(while: \.isWhitespace).dropFirst(name.count).drop(while: \.isWhitespace)
        return ReplacedProgram(body: body, arguments: [String(rest)])
    }
}

/// A call of a function in place of a program.
struct ReplacedProgram {
    let body: LuaFunction
    let arguments: [String]

    /// What the program has written, and its exit status.
    struct End {
        var output: [UInt8] = []
        var status: Int32 = 0
    }

    /// Calls the function: with the arguments, and what reads the program's input.
    ///
    /// - Throws: the function's error; ``LuaError`` for results of other kinds.
    func run(_ state: LuaState, input: LuaValue = .nil) throws(LuaError) -> End {
        let words = state.makeTable(array: arguments.count)
        for (index, word) in arguments.enumerated() { words[index + 1] = .text(word) }
        let results = try body.call(.table(words), input)
        var end = End()
        for (index, result) in results.prefix(2).enumerated() {
            switch result {
            case .nil where index == 0, .boolean(true) where index == 0: break
            case .boolean(false) where index == 0: end.status = 1
            case .string(let text) where index == 0: end.output = text.bytes
            case .integer(let status) where (0...255).contains(status): end.status = Int32(status)
            default:
                let place = body.place
                throw LuaError(
                    .runtime,
                    "\(place.source):\(place.line): a replaced program gives its output or nil, and an exit status from 0 to 255"
                )
            }
        }
        return end
    }
}

/// The bytes between a script and a replaced program, in a file without a name.
struct ReplacedPipe {
    let descriptor: Int32

    init(descriptor: Int32) { self.descriptor = descriptor }

    /// - Parameter folder: a folder for temporary files.
    /// - Throws: `FileError`.
    init(in folder: String) throws(FileError) {
        var template = Array(PathText.join(folder, "pipe-XXXXXX").utf8CString)
        descriptor = mkstemp(&template)
        guard descriptor >= 0 else { throw FileError(.open, "a pipe", code: errno) }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        unlink(template)
    }

    func write(_ bytes: [UInt8]) throws(FileError) {
        let file = OpenFile(descriptor: descriptor, path: "a pipe")
        try PosixFileLayer().writeAll(bytes.span.bytes, to: file, at: 0)
    }

    /// All that was written so far.
    func contents() throws(FileError) -> [UInt8] {
        let (file, layer) = (OpenFile(descriptor: descriptor, path: "a pipe"), PosixFileLayer())
        let size = try layer.status(file).size
        return try [UInt8](unsafeUninitializedCapacity: size) { (buffer, count) throws(FileError) in
            while count < size {
                let rest = UnsafeMutableRawBufferPointer(UnsafeMutableBufferPointer(rebasing: buffer[count...]))
                let part = try layer.read(file, at: count, into: rest)
                if part == 0 { break }
                count += part
            }
        }
    }
}
