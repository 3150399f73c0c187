import KeyedArchive
import Lua
import PropertyList
import Scripting

/// Converts Lua values to objects of an archive: a table becomes one object, however often it occurs.
final class ArchiveValueBuilder {
    /// The reason why a value cannot be archived, and its path.
    struct BuildError: Error {
        let path: String
        let reason: String
        var message: String { path.isEmpty ? reason : "\(path): \(reason)" }
    }

    /// The path of a value, linked to that of its container.
    final class Path {
        let above: Path?
        let key: LuaValue

        init(_ key: LuaValue, below above: Path? = nil) {
            self.key = key
            self.above = above
        }

        /// `root.items[3].f`; a very deep path is abbreviated in the middle.
        var text: String {
            var parts: [String] = []
            var next: Path? = self
            while let path = next {
                switch path.key {
                case .string(let text): parts.append(path.above == nil ? text.description : ".\(text)")
                case .integer(let index): parts.append("[\(index)]")
                case .number(let number): parts.append("[\(number)]")
                case .boolean(let value): parts.append("[\(value)]")
                default: parts.append("[a key]")
                }
                next = path.above
            }
            parts.reverse()
            return parts.count <= 16
                ? parts.joined() : (parts.prefix(8) + ["…"] + parts.suffix(7)).joined()
        }
    }

    struct Unfilled {
        var table: LuaTable
        var contents: LuaTable
        var value: ArchiveValue
        var path: Path
    }

    let bridge: ArchiveBridge
    /// Calls `encode` of scripts' objects; nil where they are not allowed.
    weak var encoder: ArchiveEncoder?
    private var known: [UnsafeRawPointer: ArchiveValue] = [:]
    private var items: [ObjectIdentifier: ItemObject] = [:]
    private var kinds: [UnsafeRawPointer: TableKind?] = [:]
    /// Retains the tables, so that their addresses are not reused.
    private var retained: [LuaTable] = []
    private var unfilled: [Unfilled] = []
    /// The containers in place around the one that is being built.
    private var depth = 0
    /// Counts visited values: a table with a million numbers is one object.
    var pace = InterruptionPace()

    init(_ bridge: ArchiveBridge) { self.bridge = bridge }

    /// The object of a value with all its references.
    func value(_ value: LuaValue, _ path: Path) throws -> ArchiveValue? {
        let result = try make(value, path)
        try fillAll()
        return result
    }

    /// The fields of a table made by `LuaValueBuilder.table(of:)`.
    func fields(of table: LuaTable, _ path: Path) throws -> [ArchivedObject.Field] {
        let object = ArchivedObject(ArchivedClass(""))
        try fillObject(object, from: table, table, path)
        try fillAll()
        defer { object.fields = [] }
        return object.fields
    }

    private func fillAll() throws {
        while let next = unfilled.popLast() {
            if pace.isDue() { throw WorkStopped() }
            try fill(next)
        }
    }

    /// Breaks the objects' reference cycles.
    func finish() {
        for value in known.values { value.removeReferences() }
        known = [:]
        items = [:]
        kinds = [:]
        retained = []
        unfilled = []
    }

    // MARK: Making

    func make(_ value: LuaValue, _ path: @autoclosure () -> Path) throws -> ArchiveValue? {
        if pace.isDue() { throw WorkStopped() }
        switch value {
        case .nil: return nil
        case .boolean(let value): return .boolean(value)
        case .integer(let value): return .integer(value)
        case .number(let value): return .real(value)
        case .string(let string):
            guard let text = string.text else {
                throw error(path(), "the string is not UTF-8 text (data(…) holds other bytes)")
            }
            return .string(text)
        case .userdata: return try object(value, path())
        case .table(let table): return try make(table, path())
        case .function, .thread: throw error(path(), "\(value.typeName.withArticle) cannot be archived")
        }
    }

    func error(_ path: Path, _ reason: String) -> BuildError { BuildError(path: path.text, reason: reason) }

    private func object(_ value: LuaValue, _ path: Path) throws -> ArchiveValue {
        let values = bridge.values
        if let date = values.dates.object(of: value) { return .date(date.date) }
        if let data = values.datas.object(of: value) {
            return data.mutable.map { .mutableData($0) } ?? .data(data.bytes)
        }
        if values.nulls.object(of: value) != nil { return .null }
        if let box = bridge.foundation.object(of: value), let value = box.value { return value }
        if let wide = values.wideIntegers.object(of: value) {
            return Int64(exactly: wide.value).map { .integer($0) } ?? .wideInteger(wide.value)
        }
        if let item = bridge.items.object(of: value) {
            if let known = items[ObjectIdentifier(item)] { return .object(known) }
            let object = ItemObject(item)
            items[ObjectIdentifier(item)] = object
            return .object(object)
        }
        let name = values.className(of: value)
        let advice = name == "Image" ? ": archive its bytes, data(image:jpegData())" : ""
        throw error(path, "\(name.withArticle) cannot be archived\(advice)")
    }

    private func make(_ table: LuaTable, _ path: Path) throws -> ArchiveValue {
        guard let identity = table.identity else { throw error(path, "the table cannot be archived") }
        if let known = known[identity] { return known }
        let metatable = table.metatable
        guard let metatable, let kind = kind(ofMetatable: metatable) else {
            return try plain(table, metatable, identity, path)
        }
        let value: ArchiveValue
        switch kind.form {
        case .collection(let kind, let isMutable): value = .collection(ArchivedCollection(kind, isMutable: isMutable))
        case .list: value = .collection(ArchivedCollection())
        case .countedSet: value = .collection(ArchivedCollection(.countedSet, isMutable: true))
        case .dictionary(let isMutable): value = .dictionary(ArchivedDictionary(isMutable: isMutable))
        case .foreign(let archivedClass): value = .unknown(ArchivedObject(archivedClass))
        case .instance(let scriptClass):
            guard let encoder else { throw error(path, "\(scriptClass.name.withArticle) cannot be archived here") }
            let object = ArchiveValue.object(ScriptObject(table, scriptClass, encoder))
            return record(object, table, identity)
        }
        unfilled.append(Unfilled(table: table, contents: table, value: value, path: path))
        return record(value, table, identity)
    }

    private func record(_ value: ArchiveValue, _ table: LuaTable, _ identity: UnsafeRawPointer) -> ArchiveValue {
        known[identity] = value
        retained.append(table)
        return value
    }

    private func kind(ofMetatable metatable: LuaTable) -> TableKind? {
        guard let identity = metatable.identity else { return nil }
        if let known = kinds[identity] { return known }
        let kind = bridge.kind(ofMetatable: metatable)
        kinds[identity] = .some(kind)
        retained.append(metatable)
        return kind
    }

    /// An unmarked table: an array when its keys are 1 to n, else a dictionary.
    private func plain(
        _ table: LuaTable, _ metatable: LuaTable?, _ identity: UnsafeRawPointer, _ path: Path
    ) throws -> ArchiveValue {
        let shape = ReadOnlyTable.shape(of: table)
        guard metatable == nil || shape != nil else {
            if let metatable, bridge.classes.scriptClass(table) != nil || !metatable["__call"].isNil {
                throw error(path, "a class cannot be archived, its instances can")
            }
            throw error(
                path, "a table with a metatable of its own cannot be archived: declare its class by archiver.class")
        }
        let contents = try ReadOnlyTable.contents(of: .table(table)) ?? table
        let isArray = contents.count > 0 || shape == .array || shape == nil && contents.isEmpty
        let value: ArchiveValue =
            shape == .set
            ? .collection(ArchivedCollection(.set))
            : isArray && shape != .dictionary ? .collection(ArchivedCollection()) : .dictionary(ArchivedDictionary())
        unfilled.append(Unfilled(table: table, contents: contents, value: value, path: path))
        return record(value, table, identity)
    }
}

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
        let memory = bridge.memory(of: owner)
        return try members(table, path).enumerated().map { index, value in
            let place = ArchiveMemory.Place.integer(Int64(index + 1))
            if let memory, case .object(let earlier)? = remembered(value, at: place, memory) { return earlier }
            return try make(value, Path(place.lua, below: path))
        }
    }

    /// The values of an array, none of which is nil.
    private func members(_ table: LuaTable, _ path: Path) throws -> [LuaValue] {
        let count = table.count
        var found = [LuaValue](repeating: .nil, count: count)
        try table.forEach { key, value in
            guard case .integer(let index) = key, index >= 1, index <= Int64(count) else {
                let shown = bridge.state.describe(key)
                throw error(path, "the array has the key \(shown) besides its elements")
            }
            found[Int(index) - 1] = value
            return true
        }
        if let absent = found.firstIndex(where: \.isNil) {
            let below = Path(.integer(Int64(absent + 1)), below: path)
            throw error(below, "nil is not an element of an array; null is")
        }
        return found
    }

    private func fillDictionary(_ dictionary: ArchivedDictionary, _ next: Unfilled) throws {
        let memory = bridge.memory(of: next.table)
        for child in TableChildren(next.contents, bridge).all {
            let (key, value, place) = (child.key, child.value, child.place)
            let path = Path(key, below: next.path)
            var earlier: ArchiveValue??
            if let place, let memory, case .object(let value)? = remembered(value, at: place, memory) {
                earlier = value
            }
            let entryKey = try self.key(key, place.flatMap { memory?.keys[$0] }, path)
            dictionary.entries.append(
                ArchivedDictionary.Entry(key: entryKey, value: try earlier ?? make(value, path)))
        }
    }

    private func fillCounted(_ set: ArchivedCollection, _ next: Unfilled) throws {
        let memory = bridge.memory(of: next.table)
        for child in TableChildren(next.contents, bridge).all {
            let (element, count) = (child.key, child.value)
            let path = Path(element, below: next.path)
            guard let number = count.integerValue, number >= 0 else {
                throw error(path, "a counted set holds how often each element was added, as an integer")
            }
            set.elements.append(
                try key(element, child.place.flatMap { memory?.keys[$0] }, path))
            set.counts.append(Int(number))
        }
    }

    private func key(_ key: LuaValue, _ earlier: ArchiveValue?, _ path: Path) throws -> ArchiveValue? {
        if let earlier { return earlier }
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
            // A reference may be to nil; an inline number cannot be.
            if value.isNil, case .inline? = memory.values[place] { continue }
            let written = try field(value, at: place, memory, Path(.string(name), below: path))
            object.fields.append(ArchivedObject.Field(key: key, value: written))
        }
        for child in TableChildren(table, bridge).all {
            if let place = child.place, seen.contains(place) { continue }
            let (key, value) = (child.key, child.value)
            guard let name = key.textValue else {
                throw error(path, "the key \(bridge.state.describe(key)) is not a text, as an object's keys are")
            }
            let below = Path(key, below: path)
            object.fields.append(ArchivedObject.Field(key: name, value: .object(try make(value, below))))
        }
    }

    /// A field, or a part of a container within one: in its earlier form where it is unchanged. A scalar that changed
    /// stays inline, and a container in place stays one, with the current contents of its table.
    private func field(
        _ value: LuaValue, at place: ArchiveMemory.Place, _ memory: ArchiveMemory?, _ path: Path
    ) throws -> ArchivedObject.FieldValue {
        guard let memory else { return .object(try make(value, path)) }
        switch (remembered(value, at: place, memory), value) {
        case (.list?, .table(let table)): return .list(try inPlace(path) { try list(table, path) })
        case (.dictionary?, .table(let table)): return .dictionary(try inPlace(path) { try entries(table, path) })
        case (let earlier?, _): return earlier
        default: break
        }
        if case .inline(let old)? = memory.values[place] {
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

    /// Builds a container in place: unlike objects, these nest within each other.
    private func inPlace<Contents>(_ path: Path, _ body: () throws -> Contents) throws -> Contents {
        if let excess = PropertyListLimits.standard.excess(atDepth: depth) {
            throw error(path, "containers within a field nest \(excess)")
        }
        depth += 1
        defer { depth -= 1 }
        return try body()
    }

    private func list(_ table: LuaTable, _ path: Path) throws -> [ArchivedObject.FieldValue] {
        let memory = bridge.memory(of: table)
        return try members(table, path).enumerated().map { index, value in
            let place = ArchiveMemory.Place.integer(Int64(index + 1))
            return try field(value, at: place, memory, Path(place.lua, below: path))
        }
    }

    private func entries(
        _ table: LuaTable, _ path: Path
    ) throws -> [(key: PropertyListValue, value: ArchivedObject.FieldValue)] {
        let memory = bridge.memory(of: table)
        return try TableChildren(table, bridge).all.map { child in
            let below = Path(child.key, below: path)
            guard let key = try self.key(child.key, child.place.flatMap { memory?.keys[$0] }, below)?.leaf else {
                throw error(below, "a key of a dictionary within a field is a text, a number, a date or data")
            }
            guard let place = child.place else { return (key, .object(try make(child.value, below))) }
            return (key, try field(child.value, at: place, memory, below))
        }
    }

    // MARK: Remembering

    /// The remembered original at a place, if the current value still equals it.
    private func remembered(
        _ value: LuaValue, at place: ArchiveMemory.Place, _ memory: ArchiveMemory
    ) -> ArchivedObject.FieldValue? {
        guard let earlier = memory.values[place] else { return nil }
        let isSame: Bool
        switch earlier {
        case .object(nil): isSame = value.isNil || bridge.values.nulls.object(of: value) != nil
        case .object(.single(let number)?): isSame = value.isFloat(Double(number))
        case .object(.mutableString?), .object(.utf16?):
            guard case .object(let original?) = earlier, let text = original.stringValue else { return nil }
            isSame = value.textValue == text
        case .object: isSame = false
        case .list, .dictionary:
            if case .table = value { isSame = true } else { isSame = false }
        case .inline(let old): isSame = isValue(value, old)
        }
        return isSame ? earlier : nil
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

extension ArchiveValue {
    /// The value of a leaf; nil for other objects.
    fileprivate var leaf: PropertyListValue? {
        switch self {
        case .string(let text): .string(text)
        case .utf16(let units): .utf16(units)
        case .boolean(let value): .boolean(value)
        case .integer(let value): .integer(value)
        case .wideInteger(let value): .wideInteger(value)
        case .real(let value): .real(value)
        case .single(let value): .single(value)
        case .data(let bytes): .data(bytes)
        case .date(let date): .date(date)
        default: nil
        }
    }
}
