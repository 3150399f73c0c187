import KeyedArchive
import Lua
import PropertyList

/// An archive that a script writes: what `encode` is given, and what `archiver.writer()` gives.
final class ArchiveEncoder {
    let bridge: ArchiveBridge
    let output: ArchiveValueBuilder
    let requiresSecureCoding: Bool
    private let cls: LuaClass<ArchiveEncoder>
    private var writer: KeyedArchiver?
    /// The error of a script's `encode`, on its way through the archiver.
    private var pending: LuaError?
    /// What a script's `encode` failed with: there will be no archive.
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

    /// Runs calls of the archiver. A script's error comes out as itself, with its traceback.
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

    /// Ends the archive and gives its bytes.
    func finish() throws -> [UInt8] {
        let bytes = try perform { try $0.finishEncoding() }
        close()
        return bytes
    }

    /// Lets go of everything: what refers to the archive would else keep all that is in it.
    func close() {
        writer = nil
        output.finish()
    }

    /// Has an instance of a script's class encode itself.
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
