internal import CLuaShim

/// The fields that a function expects in a table, to be read in one step: ``LuaCall/withRecord(_:_:_:)``.
///
/// It belongs to the state that it is made for.
public final class LuaRecord {
    let layout: UnsafeMutablePointer<clua_layout>

    /// - Parameters:
    ///   - names: the fields' names, eight at the most.
    ///   - state: the state that the tables will belong to.
    public init(_ names: [String], in state: LuaState) {
        precondition(names.count <= Int(CLUA_FIELDS), "a record has \(CLUA_FIELDS) fields at the most")
        layout = .allocate(capacity: 1)
        layout.initialize(to: clua_layout())
        withUnsafeMutableBytes(of: &layout.pointee.names) { bytes in
            let identities = bytes.assumingMemoryBound(to: UnsafeRawPointer?.self)
            withUnsafeMutableBytes(of: &layout.pointee.references) { bytes in
                let references = bytes.assumingMemoryBound(to: Int32.self)
                for (place, name) in names.enumerated() {
                    identities[place] = clua_pinname(state.current, name, &references[place])
                }
            }
        }
        layout.pointee.count = UInt32(names.count)
    }

    deinit { layout.deallocate() }

    /// Lets a field hold values of a class that Lua holds in place.
    public func allow<T: LuaInline>(_ cls: LuaClass<T>, at place: Int) {
        precondition(place < Int(layout.pointee.count), "there is no such field")
        withUnsafeMutableBytes(of: &layout.pointee.classes) { bytes in
            bytes.assumingMemoryBound(to: OpaquePointer?.self)[place] = cls.pointer
        }
    }
}

/// What a table has of a record's fields, by their places. Valid within the body that got it.
public struct LuaRecordValues {
    let fields: UnsafePointer<clua_field>

    /// The bytes of a field that is a string.
    public func bytes(_ place: Int) -> UnsafeRawBufferPointer? {
        let field = fields[place]
        return field.kind == CLUA_FIELD_STRING ? UnsafeRawBufferPointer(start: field.bytes, count: field.length) : nil
    }

    /// A field that is an integer, or a number that equals one.
    public func integer(_ place: Int) -> Int64? {
        fields[place].kind == CLUA_FIELD_INTEGER ? fields[place].integer : nil
    }

    /// A field that is a value in place, of the class that was allowed: what it was made from.
    public func bits(_ place: Int) -> UInt64? {
        fields[place].kind == CLUA_FIELD_INLINE ? fields[place].payload : nil
    }

    /// Whether the table has the field.
    public func has(_ place: Int) -> Bool { fields[place].kind != CLUA_FIELD_ABSENT }
}

extension LuaCall {
    /// The bytes of one field of an argument that is a table, when it is a string there: before the others are looked at.
    public func bytes(_ position: Int, of field: Int, _ record: LuaRecord) -> UnsafeRawBufferPointer? {
        guard clua_checkstack(L, 8) != 0 else { return nil }
        var length = 0
        let text = clua_readtext(L, base + Int32(position), record.layout, UInt32(field), &length)
        return text.map { UnsafeRawBufferPointer(start: $0, count: length) }
    }

    /// Calls a body with the fields of an argument that is a table.
    ///
    /// - Returns: what the body returns; false, without a call, when the table has other keys, or values that no field of a
    ///   record holds: it is to be walked over then, with ``forEachEntry(_:_:)``.
    public func withRecord(
        _ position: Int, _ record: LuaRecord, _ body: (LuaRecordValues) throws -> Bool
    ) throws -> Bool {
        guard clua_checkstack(L, 8) != 0 else { return false }
        return try withUnsafeTemporaryAllocation(of: clua_field.self, capacity: Int(CLUA_FIELDS)) { fields in
            guard let start = fields.baseAddress else { return false }
            guard clua_readrecord(L, base + Int32(position), record.layout, start) != 0 else { return false }
            return try body(LuaRecordValues(fields: start))
        }
    }
}
