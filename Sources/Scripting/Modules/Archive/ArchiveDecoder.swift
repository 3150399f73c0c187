import KeyedArchive
import Lua
import PropertyList

/// An archive being read by a script: the argument of `init`, and the result of `archiver.reader(bytes)`.
final class ArchiveDecoder {
    let bridge: ArchiveBridge
    let unarchiver: KeyedUnarchiver
    private let input: LuaValueBuilder
    private let cls: LuaClass<ArchiveDecoder>
    /// The error of a script's `init`, to be rethrown after the unarchiver.
    private var pending: LuaError?

    /// The nesting limit of `init`, which uses Lua's C stack. Deeper objects are initialised afterwards.
    private static let depthLimit = 100

    init(
        _ bridge: ArchiveBridge, _ cls: LuaClass<ArchiveDecoder>, _ bytes: [UInt8], requiresSecureCoding: Bool = false,
        failurePolicy: KeyedUnarchiver.FailurePolicy = .raise
    ) throws(ArchiveError) {
        self.bridge = bridge
        self.cls = cls
        var limits = ArchiveLimits.standard
        limits.maximumDepth = Self.depthLimit
        let reader = try KeyedArchiveReader(bytes, limits: limits)
        unarchiver = KeyedUnarchiver(
            reader: reader, requiresSecureCoding: requiresSecureCoding, failurePolicy: failurePolicy)
        unarchiver.allowsNamedUnknownClasses = true
        input = LuaValueBuilder(bridge)
        for (name, scriptClass, table) in bridge.classes.all { setClass(scriptClass, table, forClassName: name) }
    }

    deinit { input.finish() }

    /// Decodes instances of a class name as a script's class.
    func setClass(_ scriptClass: ScriptClass, _ table: LuaTable, forClassName name: String) {
        let classes = bridge.classes
        unarchiver.setClass(
            ArchiveClassBinding(
                scriptClass.archivedClass, supportsSecureCoding: scriptClass.isSecure,
                allocate: { () throws(ArchiveError) -> ScriptObject in
                    do throws(LuaError) {
                        return ScriptObject(try classes.makeInstance(of: table), scriptClass)
                    } catch {
                        throw ArchiveError(code: .readCorrupt, message: error.message)
                    }
                },
                initialize: { [unowned self] (object: ScriptObject, _) throws(ArchiveError) in try initialize(object) }),
            forClassName: name)
    }

    /// Calls the `init` of an instance of a script's class.
    private func initialize(_ object: ScriptObject) throws(ArchiveError) {
        let name = object.scriptClass.name
        do {
            guard case .function(let initialize) = try bridge.state.field("init", of: .table(object.table)) else {
                throw LuaError(
                    .runtime, "\(name) has no init method: function \(name):init(coder) … end reads its fields")
            }
            try initialize.call(.table(object.table), cls.value(self))
        } catch {
            // An error caused by the archive stays the archive's error; others are the script's.
            let lua = error as? LuaError ?? LuaError(.runtime, "\(error)")
            if let archive = lua.underlying as? ArchiveError { throw archive }
            if pending == nil { pending = lua }
            throw ArchiveError(code: .readCorrupt, message: "\(name).init failed: \(lua.message)")
        }
    }

    /// Calls the unarchiver. Within `init` an error of the archive is raised; outside, it is the result. An error of a
    /// script's `init` is rethrown.
    func perform<Value>(_ body: (KeyedUnarchiver) throws -> Value) throws -> OrError<Value> {
        do {
            let value = try body(unarchiver)
            if let pending, unarchiver.decodingFailurePolicy == .setErrorAndReturn, !unarchiver.isDecodingObject {
                self.pending = nil
                throw pending
            }
            return .success(value)
        } catch let error as ArchiveError {
            if let pending {
                if !unarchiver.isDecodingObject { self.pending = nil }
                throw pending
            }
            if unarchiver.isDecodingObject { throw error }
            return .failure(error)
        }
    }

    /// A decoded object in Lua.
    func lua(_ value: ArchiveValue?) throws(LuaError) -> LuaValue {
        input.isComplete = !unarchiver.isDecodingObject
        if input.isComplete { input.completeShort() }
        return try input.lua(value)
    }

    /// Finishes decoding.
    func finish() throws(ArchiveError) {
        input.finish()
        try unarchiver.finishDecoding()
    }
}
