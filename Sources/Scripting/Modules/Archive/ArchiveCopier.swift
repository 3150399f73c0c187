import Items
import Lua

/// Copies objects deeply, each once, as NSCopying does.
///
/// An instance whose class has a `copy` method is copied by that method. Nested calls of `archiver.copy` belong to the
/// same operation, so that shared objects stay shared among the copies.
final class ArchiveCopier {
    private let bridge: ArchiveBridge
    private var copies: [UnsafeRawPointer: LuaTable] = [:]
    /// Objects whose `copy` method is running.
    private var open: Set<UnsafeRawPointer> = []
    private var unfilled: [(source: LuaTable, copy: LuaTable)] = []
    /// Retains the originals, so that their addresses are not reused.
    private var retained: [LuaTable] = []

    init(_ bridge: ArchiveBridge) { self.bridge = bridge }

    /// The copy of a value; a value without contents is its own copy.
    func copy(_ value: LuaValue) throws -> LuaValue {
        // A copy method requires its own tables to be filled.
        let outer = unfilled
        unfilled = []
        defer { unfilled = outer }
        let result = try make(value)
        while let (source, copy) = unfilled.popLast() { try fill(copy, from: source) }
        return result
    }

    private func make(_ value: LuaValue) throws -> LuaValue {
        if let item = bridge.items.object(of: value) { return bridge.items.value(try item.copy()) }
        guard case .table(let table) = value, let identity = table.identity else { return value }
        if let known = copies[identity] { return .table(known) }
        if case .instance(let scriptClass)? = bridge.kind(of: table)?.form,
            case .function(let method) = try bridge.state.field("copy", of: value)
        {
            guard open.insert(identity).inserted else {
                throw LuaError(
                    .runtime,
                    "\(scriptClass.name):copy copies something that refers back to the object before it has returned; "
                        + "without a copy method, archiver.copy copies cycles, too")
            }
            defer { open.remove(identity) }
            guard case .table(let copy)? = try method.call(value).first else {
                throw LuaError(.runtime, "\(scriptClass.name):copy has returned no object")
            }
            note(copy, of: table, identity)
            return .table(copy)
        }
        let copy = bridge.state.makeTable()
        copy.setMetatable(try metatable(of: table))
        note(copy, of: table, identity)
        unfilled.append((table, copy))
        return .table(copy)
    }

    private func note(_ copy: LuaTable, of table: LuaTable, _ identity: UnsafeRawPointer) {
        copies[identity] = copy
        retained.append(table)
    }

    private func metatable(of table: LuaTable) throws -> LuaTable? {
        guard let metatable = table.metatable else { return nil }
        guard metatable["__gc"].isNil else {
            throw LuaError(.argument, "a class cannot have a finalizer: remove its __gc")
        }
        return metatable
    }

    private func fill(_ copy: LuaTable, from source: LuaTable) throws {
        var entries: [(LuaValue, LuaValue)] = []
        try source.forEach { key, value in
            entries.append((key, value))
            return true
        }
        for (key, value) in entries { copy[try make(key)] = try make(value) }
        if let memory = bridge.memory(of: source) { bridge.setMemory(memory.copy(), of: copy) }
    }
}
