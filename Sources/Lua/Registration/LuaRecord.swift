internal import CLuaShim

/// The expected fields of a table argument, to be read in one step: ``LuaCall/withRecord(_:_:_:)``.
///
/// Belongs to one state.
package final class LuaRecord {
    let layout: UnsafeMutablePointer<clua_layout>

    /// - Parameters:
    ///   - names: the fields' names, eight at most.
    ///   - state: the state of the tables.
    package init(_ names: [String], in state: LuaState) {
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

    /// Allows inline values of a class in a field.
    package func allow<T: LuaInline>(_ cls: LuaClass<T>, at place: Int) {
        precondition(place < Int(layout.pointee.count), "there is no such field")
        withUnsafeMutableBytes(of: &layout.pointee.classes) { bytes in
            bytes.assumingMemoryBound(to: OpaquePointer?.self)[place] = cls.pointer
        }
    }
}

/// A table's fields by their positions in the record. Only valid in the body.
package struct LuaRecordValues {
    let fields: UnsafePointer<clua_field>

    /// The bytes of a string field.
    package func bytes(_ place: Int) -> UnsafeRawBufferPointer? {
        let field = fields[place]
        return field.kind == CLUA_FIELD_STRING ? UnsafeRawBufferPointer(start: field.bytes, count: field.length) : nil
    }

    /// An integer field, or a number field equal to an integer.
    package func integer(_ place: Int) -> Int64? {
        fields[place].kind == CLUA_FIELD_INTEGER ? fields[place].integer : nil
    }

    /// The bits of a field with an inline value of the allowed class.
    package func bits(_ place: Int) -> UInt64? {
        fields[place].kind == CLUA_FIELD_INLINE ? fields[place].payload : nil
    }

    /// Whether the table has the field.
    package func has(_ place: Int) -> Bool { fields[place].kind != CLUA_FIELD_ABSENT }
}

extension LuaCall {
    /// The bytes of one field of a table argument, if it is a string; does not read the other fields.
    package func bytes(_ position: Int, of field: Int, _ record: LuaRecord) -> UnsafeRawBufferPointer? {
        guard clua_checkstack(L, 8) != 0 else { return nil }
        var length = 0
        let text = clua_readtext(L, base + Int32(position), record.layout, UInt32(field), &length)
        return text.map { UnsafeRawBufferPointer(start: $0, count: length) }
    }

    /// Calls a body with the fields of a table argument.
    ///
    /// - Returns: the body's result; false, without a call, if the table has other keys or unsupported values.
    ///   Use ``forEachEntry(_:_:)`` for such a table.
    package func withRecord(
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

/// An entry of a table argument, still on Lua's stack: values are converted on access. Valid until the body returns.
package struct LuaTableEntry {
    let call: LuaCall
    /// The key's stack index; the value follows.
    let index: Int32

    /// The key as a retained value.
    package var key: LuaValue { call.state.value(at: index, on: call.L) }
    /// The value as a retained value.
    package var value: LuaValue { call.state.value(at: index + 1, on: call.L) }

    /// The bytes of a string key.
    @inline(__always)
    package func withKey<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result? {
        try withBytes(at: index, body)
    }

    /// The bytes of a string value.
    @inline(__always)
    package func withText<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result? {
        try withBytes(at: index + 1, body)
    }

    /// The value, if it is an integer, or a number equal to one.
    package var integer: Int64? {
        guard clua_type(call.L, index + 1) == LuaBasicType.number.rawValue else { return nil }
        var isInteger: Int32 = 0
        let value = clua_tointeger(call.L, index + 1, &isInteger)
        return isInteger != 0 ? value : nil
    }

    /// The value, if it is an object of the class.
    package func object<T>(_ cls: LuaClass<T>) -> T? { cls.object(at: index + 1, on: call.L) }

    @inline(__always)
    private func withBytes<Result>(
        at index: Int32, _ body: (UnsafeRawBufferPointer) throws -> Result
    ) rethrows -> Result? {
        // `lua_tolstring` would convert a number in place, which breaks the traversal.
        guard clua_type(call.L, index) == LuaBasicType.string.rawValue else { return nil }
        var length = 0
        guard let start = clua_tostring(call.L, index, &length) else { return nil }
        return try body(UnsafeRawBufferPointer(start: start, count: length))
    }
}

extension LuaCall {
    /// Calls a body with each entry of a table argument, bypassing `__pairs`. The body must not change the table, nor
    /// run Lua code that could.
    package func forEachEntry(_ position: Int, _ body: (LuaTableEntry) throws -> Void) throws {
        let table = base + Int32(position)
        guard clua_type(L, table) == LuaBasicType.table.rawValue, clua_checkstack(L, 8) != 0 else { return }
        let top = clua_gettop(L)
        defer { clua_settop(L, top) }
        clua_pushnil(L)
        while clua_nextentry(L, table) != 0 {
            try body(LuaTableEntry(call: self, index: top + 1))
            clua_settop(L, top + 1)
        }
    }
}
