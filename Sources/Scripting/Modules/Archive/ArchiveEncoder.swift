import KeyedArchive
import Lua
import PropertyList

/// An archive being written by a script: the argument of `encode`, and the result of `archiver.writer()`.
final class ArchiveEncoder {
    let bridge: ArchiveBridge
    let output: ArchiveValueBuilder
    let requiresSecureCoding: Bool
    private let cls: LuaClass<ArchiveEncoder>
    private var writer: KeyedArchiver?
    /// The error of a script's `encode`, to be rethrown after the archiver.
    private var pending: LuaError?
    /// The message of a failed `encode`: the archive cannot be finished.
    private var failure: String?

    init(
        _ bridge: ArchiveBridge, _ cls: LuaClass<ArchiveEncoder>, requiresSecureCoding: Bool = false,
        format: PropertyListFormat = .binary
    ) {
        self.bridge = bridge
        self.cls = cls
        self.requiresSecureCoding = requiresSecureCoding
        let writer = KeyedArchiver(requiresSecureCoding: requiresSecureCoding)
        writer.outputFormat = format
        for (className, name) in bridge.classes.archivedNames { writer.setClassName(name, forClass: className) }
        self.writer = writer
        output = ArchiveValueBuilder(bridge)
        output.encoder = self
    }

    deinit { output.finish() }

    /// The archiver.
    ///
    /// - Throws: `LuaError` when the archive is finished.
    var archiver: KeyedArchiver {
        get throws {
            if let writer { return writer }
            if let failure { throw LuaError(.runtime, "the archive cannot be finished: \(failure)") }
            throw LuaError(.runtime, "the archive is finished; nothing more can be encoded")
        }
    }

    /// Calls the archiver. A script's error is rethrown with its traceback.
    func perform<Result>(_ body: (KeyedArchiver) throws -> Result) throws -> Result {
        let archiver = try archiver
        do {
            return try body(archiver)
        } catch let error as ArchiveError {
            guard let pending else { throw error }
            self.pending = nil
            failure = pending.message
            close()
            throw pending
        }
    }

    /// Finishes the archive and returns its bytes.
    func finish() throws -> [UInt8] {
        let bytes = try perform { try $0.finishEncoding() }
        close()
        return bytes
    }

    /// Releases all objects, which references to the archive would otherwise retain.
    func close() {
        writer = nil
        output.finish()
    }

    /// Calls the `encode` of an instance of a script's class.
    func encode(_ object: ScriptObject) throws(ArchiveError) {
        let name = object.scriptClass.name
        do {
            guard case .function(let encode) = try bridge.state.field("encode", of: .table(object.table)) else {
                throw LuaError(
                    .runtime, "\(name) has no encode method: function \(name):encode(coder) … end writes its fields")
            }
            try encode.call(.table(object.table), cls.value(self))
        } catch {
            if pending == nil { pending = error as? LuaError ?? LuaError(.runtime, "\(error)") }
            throw ArchiveError(code: .invalidValue, message: "\(name).encode failed: \(error)")
        }
    }
}
