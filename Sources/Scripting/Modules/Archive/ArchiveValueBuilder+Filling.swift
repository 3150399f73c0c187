import KeyedArchive
import Lua
import PropertyList

// Fills objects with the contents of their tables.
extension ArchiveValueBuilder {
    func fill(_ next: Unfilled) throws {
        switch next.value {
        case .collection(let set) where set.kind == .countedSet: try fillCounted(set, next)
        case .collection(let collection):
            collection.elements = try elements(next.contents, next.path, memoryOf: next.table)
        case .dictionary(let dictionary): try fillDictionary(dictionary, next)
        case .unknown(let object): try fillObject(object, from: next.contents, next.table, next.path)
        default: break
        }
    }

    private func elements(_ table: LuaTable, _ path: Path, memoryOf owner: LuaTable) throws -> [ArchiveValue?] {
        let count = table.count
        var found = [LuaValue](repeating: .nil, count: count)
        try table.forEach { key, value in
            guard case .integer(let index) = key, index >= 1, index <= Int64(count) else {
                let shown = bridge.state.describe(key)
                throw refusal(path, "the array has the key \(shown) besides its elements")
            }
            found[Int(index) - 1] = value
            return true
        }
        let memory = bridge.memory(of: owner)
        var elements: [ArchiveValue?] = []
        elements.reserveCapacity(count)
        for (index, value) in found.enumerated() {
            let place = Int64(index + 1)
            if let memory, let kept = remembered(value, at: .integer(place), memory), case .object(let value) = kept {
                elements.append(value)
            } else if value.isNil {
                throw refusal(Path(.integer(place), below: path), "nil is not an element of an array; null is")
            } else {
                elements.append(try make(value, Path(.integer(place), below: path)))
            }
        }
        return elements
    }

    private func fillDictionary(_ dictionary: ArchivedDictionary, _ next: Unfilled) throws {
        let memory = bridge.memory(of: next.table)
        for child in TableChildren(next.contents, bridge).all {
            let (key, value, place) = (child.key, child.value, child.place)
            let path = Path(key, below: next.path)
            var kept: ArchiveValue??
            if let place, let memory, case .object(let value)? = remembered(value, at: place, memory) { kept = value }
            let entryKey = try self.key(key, place.flatMap { memory?.keys[$0] }, path)
            dictionary.entries.append(
                ArchivedDictionary.Entry(key: entryKey, value: try kept ?? make(value, path)))
        }
    }

    private func fillCounted(_ set: ArchivedCollection, _ next: Unfilled) throws {
        let memory = bridge.memory(of: next.table)
        for child in TableChildren(next.contents, bridge).all {
            let (element, count) = (child.key, child.value)
            let path = Path(element, below: next.path)
            guard let number = count.integerValue, number >= 0 else {
                throw refusal(path, "a counted set holds how often each element was added, as an integer")
            }
            set.elements.append(
                try key(element, child.place.flatMap { memory?.keys[$0] }, path))
            set.counts.append(Int(number))
        }
    }

    private func key(_ key: LuaValue, _ kept: ArchiveValue?, _ path: Path) throws -> ArchiveValue? {
        if let kept { return kept }
        if let box = bridge.foundation.object(of: key) { return box.value }
        return try make(key, path)
    }

    func fillObject(
        _ object: ArchivedObject, from table: LuaTable, _ owner: LuaTable, _ path: Path
    ) throws {
        let memory = bridge.memory(of: owner)
        var seen: Set<ArchiveMemory.Place> = []
        for place in memory?.order ?? [] {
            guard let memory, seen.insert(place).inserted, case .text(let name) = place, let key = name.text else {
                continue
            }
            let value = table[.string(name)]
            let below = Path(.string(name), below: path)
            if let kept = remembered(value, at: place, memory) {
                let field = try listed(kept, value, below)
                object.fields.append(ArchivedObject.Field(key: key, value: field))
            } else if value.isNil {
                // A reference may be to nil; an inline number cannot be.
                if case .inline? = memory.values[place] { continue }
                object.fields.append(ArchivedObject.Field(key: key, value: .object(nil)))
            } else {
                let field = try field(value, wasInline: memory.values[place], below)
                object.fields.append(ArchivedObject.Field(key: key, value: field))
            }
        }
        for child in TableChildren(table, bridge).all {
            if let place = child.place, seen.contains(place) { continue }
            let (key, value) = (child.key, child.value)
            guard let name = key.textValue else {
                throw refusal(path, "the key \(bridge.state.describe(key)) is not a text, as an object's keys are")
            }
            let below = Path(key, below: path)
            object.fields.append(ArchivedObject.Field(key: name, value: .object(try make(value, below))))
        }
    }

    /// A remembered field; a list of references follows the current table.
    private func listed(
        _ kept: ArchivedObject.FieldValue, _ value: LuaValue, _ path: Path
    ) throws -> ArchivedObject.FieldValue {
        guard case .objects = kept, case .table(let table) = value else { return kept }
        return .objects(try elements(table, path, memoryOf: table))
    }

    /// The field of a changed value: a scalar stays inline.
    private func field(
        _ value: LuaValue, wasInline kept: ArchivedObject.FieldValue?, _ path: Path
    ) throws -> ArchivedObject.FieldValue {
        if case .inline(let old)? = kept {
            switch (old, value) {
            case (.single, .number(let number)): return .inline(.single(Float(number)))
            case (.real, .integer(let number)), (.single, .integer(let number)): return .inline(.real(Double(number)))
            case (_, .boolean), (_, .integer), (_, .number), (_, .string), (_, .userdata):
                let scalar = try? bridge.values.propertyList(value)
                if let scalar { return .inline(scalar) }
            default: break
            }
        }
        return .object(try make(value, path))
    }

    // MARK: Remembering

    /// The remembered original at a place, if the current value still equals it.
    private func remembered(
        _ value: LuaValue, at place: ArchiveMemory.Place, _ memory: ArchiveMemory
    ) -> ArchivedObject.FieldValue? {
        guard let kept = memory.values[place] else { return nil }
        let isSame: Bool
        switch kept {
        case .object(nil): isSame = value.isNil || bridge.values.nulls.object(of: value) != nil
        case .object(.single(let number)?): isSame = value.isFloat(Double(number))
        case .object(.mutableString?), .object(.utf16?):
            guard case .object(let original?) = kept, let text = original.stringValue else { return nil }
            isSame = value.textValue?.hasSameBytes(as: text) ?? false
        case .object: isSame = false
        case .objects:
            if case .table = value { isSame = true } else { isSame = false }
        case .inline(let old): isSame = isValue(value, old)
        }
        return isSame ? kept : nil
    }

    private func isValue(_ value: LuaValue, _ old: PropertyListValue) -> Bool {
        switch old {
        case .single(let number): return value.isFloat(Double(number))
        case .real(let number): return value.isFloat(number)
        case .null: return bridge.values.nulls.object(of: value) != nil
        default: return (try? bridge.values.propertyList(value)) == Self.shown(old)
        }
    }

    /// The value after a round trip through Lua.
    private static func shown(_ value: PropertyListValue) -> PropertyListValue {
        switch value {
        case .single(let number): .real(Double(number))
        case .utf16: .string(value.text ?? "")
        case .array(let elements): .array(elements.map(shown))
        case .set(let elements): .set(elements.map(shown))
        case .dictionary(let entries): .dictionary(entries.mapValues(shown))
        default: value
        }
    }
}

extension LuaValue {
    /// Whether this is the float; NaN matches NaN.
    fileprivate func isFloat(_ number: Double) -> Bool {
        if case .number(let value) = self {
            return value.bitPattern == number.bitPattern || value.isNaN && number.isNaN
        }
        return false
    }
}
