public import Application
public import Images
public import Items
package import KeyedArchive
public import Lua
package import PredicateFormat
public import PropertyList

/// A date as an inline Lua value.
@usableFromInline
package struct DateValue: LuaInline {
    @usableFromInline package var date: PropertyListDate
    /// Whether it is a day, without a time and a zone: then the date is its beginning in UTC.
    @usableFromInline package private(set) var isDay: Bool

    @inlinable package init(_ date: PropertyListDate) { (self.date, isDay) = (date, false) }
    /// The day of a date; the date itself if that is not the beginning of a day in UTC.
    package init(day date: PropertyListDate) {
        self.date = date
        isDay = Self.number(of: date) != nil
    }
    /// - Parameters:
    ///   - seconds: since 1970.
    ///   - digits: the decimal digits of a fraction.
    package init(_ seconds: Int64, fraction digits: String) {
        self.init(PropertyListDate(secondsSince1970: Int(seconds), fraction: digits))
    }
    @inlinable package init(luaBits: UInt64) {
        isDay = luaBits >> 48 == Self.mark
        date = PropertyListDate(
            secondsSinceReferenceDate: isDay
                ? Double(Int64(bitPattern: luaBits << 16) >> 16) * 86400 : Double(bitPattern: luaBits))
    }
    /// The date a number of seconds later; of a day a day, if it is one.
    func moved(by seconds: Double) -> DateValue {
        let date = PropertyListDate(secondsSinceReferenceDate: date.secondsSinceReferenceDate + seconds)
        return isDay ? DateValue(day: date) : DateValue(date)
    }

    /// Its text in files: `2024-01-31` for a day, ISO 8601 in UTC for a moment.
    package var exchangeText: String { isDay ? date.dayText : date.exchangeText }

    @inlinable package var luaBits: UInt64 { isDay ? bitsOfDay : date.secondsSinceReferenceDate.bitPattern }

    @usableFromInline var bitsOfDay: UInt64 {
        guard let day = Self.number(of: date) else { return date.secondsSinceReferenceDate.bitPattern }
        return Self.mark << 48 | UInt64(bitPattern: day) & (1 << 48 - 1)
    }

    /// The upper bits of a day, those of no finite number: dates are finite. The lower ones are its number.
    @usableFromInline static let mark: UInt64 = 0xFFFA

    /// The number of a day from the reference date on; nil for another date.
    private static func number(of date: PropertyListDate) -> Int64? {
        let days = date.secondsSinceReferenceDate / 86400
        guard let number = Int64(exactly: days), number.magnitude < 1 << 46,
            Double(number) * 86400 == date.secondsSinceReferenceDate
        else { return nil }
        return number
    }
}

extension DateValue: Equatable {
    /// A day is equal to the date of its beginning in UTC.
    @inlinable package static func == (first: DateValue, second: DateValue) -> Bool { first.date == second.date }
}

/// Bytes of a property list as a Lua object.
package final class DataValue {
    package let bytes: [UInt8]
    /// The mutable data of its archive.
    package let mutable: ArchivedMutableData?

    package init(_ bytes: [UInt8], mutable: ArchivedMutableData? = nil) {
        self.bytes = bytes
        self.mutable = mutable
    }
}

/// The null of property lists and JSON, as a value that a Lua table can hold.
package final class NullValue {
    package static nonisolated(unsafe) let shared = NullValue()  // Immutable: it has no state.
    private init() {}
}

/// A reference into `$objects` of a keyed archive, as it appears in a property list.
package struct UIDValue: LuaInline, Equatable {
    package var uid: UInt32

    package init(_ uid: UInt32) { self.uid = uid }
    package init(luaBits: UInt64) { uid = UInt32(truncatingIfNeeded: luaBits) }
    package var luaBits: UInt64 { UInt64(uid) }

    /// The class: its number, compared by value.
    static func makeClass(in state: LuaState) -> LuaClass<UIDValue> {
        let cls = LuaClass<UIDValue>(
            inline: luaName, doc: "A reference to an object of a keyed archive, as in its property list.", in: state)
        cls.property("value", doc: "The index in `$objects`.", get: { $0.uid })
        cls.metamethod("__tostring") { uid, call in call.returns("UID \(uid.uid)") }
        cls.rawMetamethod("__eq") { call in
            call.returns(call.optionalObject(0, cls) == call.optionalObject(1, cls))
        }
        return cls
    }
}

/// An integer of a property list beyond Lua's 64 bits.
package final class WideIntegerValue {
    package let value: Int128

    package init(_ value: Int128) { self.value = value }

    /// The class: exact and comparable, convertible to text or, approximately, to a number. It takes no part in
    /// arithmetic, whose results would not be exact.
    static func makeClass(in state: LuaState) -> LuaClass<WideIntegerValue> {
        let cls = LuaClass<WideIntegerValue>(
            "WideInteger",
            doc:
                "An integer of a property list or of JSON beyond Lua's 64 bits, exact: `tostring` gives all digits, == compares two of them, < also with numbers. Arithmetic raises an error.",
            in: state,
            kind: .box)
        cls.method(
            "number", doc: "The nearest float.",
            example: "return plist.integer(\"18446744073709551615\"):number()"
        ) { Double($0.value) }
        cls.metamethod("__tostring") { integer, call in call.returns(String(integer.value)) }
        cls.rawMetamethod("__eq") { call in
            call.returns(call.optionalObject(0, cls)?.value == call.optionalObject(1, cls)?.value)
        }
        cls.rawMetamethod("__lt") { call in call.returns(try order(call, cls).map { $0 < 0 } ?? false) }
        cls.rawMetamethod("__le") { call in call.returns(try order(call, cls).map { $0 <= 0 } ?? false) }
        for name in [
            "add", "sub", "mul", "div", "mod", "pow", "unm", "idiv", "band", "bor", "bxor", "bnot", "shl", "shr",
        ] {
            cls.rawMetamethod("__\(name)") { call in
                let value = call.optionalObject(0, cls) ?? call.optionalObject(1, cls)
                throw LuaError(
                    .runtime,
                    "arithmetic on \(value.map { String($0.value) } ?? "an integer"), which has more than Lua's 64 bits: "
                        + "convert it with :number() to the nearest float, or with tostring")
            }
        }
        cls.rawMetamethod("__concat") { call in
            call.returns(LuaString(call.allValues.prefix(2).flatMap { call.state.describe($0).bytes }))
        }
        return cls
    }

    /// The order of two operands, of which one may be a number: less than 0, 0 or more; nil with a number that is none.
    private static func order(_ call: LuaCall, _ cls: LuaClass<WideIntegerValue>) throws -> Int? {
        if let first = call.optionalObject(0, cls) {
            if let second = call.optionalObject(1, cls) { return first.value.order(second.value) }
            return try first.value.order(call, 1)
        }
        return try call.object(1, cls).value.order(call, 0).map { -$0 }
    }
}

extension Int128 {
    fileprivate func order(_ other: Int128) -> Int { self < other ? -1 : self == other ? 0 : 1 }

    fileprivate func order(_ call: LuaCall, _ position: Int) throws -> Int? {
        if case .integer(let integer) = call.value(position) { return order(Int128(integer)) }
        let number = try call.number(position)
        if number.isNaN { return nil }
        guard let whole = Int128(exactly: number.rounded(.down)) else { return number < 0 ? 1 : -1 }
        // An equal integral part is less than a number with a fraction.
        return self == whole && number != number.rounded(.down) ? -1 : order(whole)
    }
}

/// Bytes as an argument: a string or data.
package typealias BytesArgument = LuaEither<LuaString, DataValue>

extension LuaEither<LuaString, DataValue> {
    package var bytes: [UInt8] {
        switch self {
        case .first(let string): string.bytes
        case .second(let data): data.bytes
        }
    }
}

/// An iterator as a result: a function that Swift releases when Lua collects it.
package struct LuaIterator: LuaRepresentable {
    package let next: (LuaCall) throws -> LuaResults

    package init(_ next: @escaping (LuaCall) throws -> LuaResults) { self.next = next }

    package static var luaType: LuaType { .callback("() → any") }

    /// Iterators are results only.
    package init(lua value: LuaValue) throws(LuaMismatch) { throw LuaMismatch("no argument") }
    package func luaValue(in state: LuaState) -> LuaValue { .nil }

    package func push(as call: LuaCall) -> LuaResults { call.returns(ownedFunction: next) }
}

// The classes whose values are arguments and results of functions, by their names for scripts.

extension Item: LuaInstance, LuaRepresentable { @usableFromInline package static let luaName = "Item" }
extension BitmapImage: LuaInstance, LuaRepresentable { @usableFromInline package static let luaName = "Image" }
extension DataValue: LuaInstance { package static let luaName = "data" }
extension DateValue: LuaInstance { @usableFromInline package static let luaName = "date" }
extension UIDValue: LuaInstance { package static let luaName = "UID" }
extension PredicateValue: LuaInstance { package static let luaName = "Predicate" }
extension ItemQuery: LuaInstance, LuaRepresentable { @usableFromInline package static let luaName = "Query" }
extension ItemGroup: LuaInstance, LuaRepresentable { @usableFromInline package static let luaName = "Group" }
extension SQLRows: LuaInstance { package static let luaName = "Rows" }
extension Hook: LuaInstance { package static let luaName = "Hook" }
extension ProgressBar: LuaInstance { package static let luaName = "Progress" }
extension NotificationToken: LuaInstance { package static let luaName = "Observer" }

// Words for scripts.

extension PropertyListFormat: LuaRepresentable {}
extension ItemGroups.Order: LuaRepresentable {}
extension ItemFieldKind: LuaRepresentable {}
extension ItemFileFormat: LuaRepresentable {}
extension SpreadsheetDialect.Program: LuaRepresentable {}
extension ItemFileEncoding: LuaRepresentable {}
extension ItemStore.Isolation: LuaRepresentable {}

/// A compiled predicate as a Lua object.
package final class PredicateValue {
    package let predicate: FormatPredicate
    package init(_ predicate: FormatPredicate) { self.predicate = predicate }

    /// Compiles a format with the variables of the argument of that name.
    package static func compile(_ format: String, _ table: LuaTable?, _ bridge: ValueBridge) throws -> FormatPredicate {
        var variables: PropertyListFields = [:]
        try table?.forEach { key, value in
            guard let name = key.textValue else {
                throw LuaMismatch("a variable's name is text", argument: "variables")
            }
            do throws(ValueBridge.BridgeError) { variables[name] = try bridge.propertyList(value, path: name) } catch {
                throw LuaMismatch(error.message, argument: "variables")
            }
            return true
        }
        return try FormatPredicate(format: format, variables: variables)
    }
}

/// A predicate as an argument: a format, a compiled predicate, or a function of the evaluated object.
package enum ConditionArgument: LuaRepresentable {
    case format(String), function(LuaFunction), predicate(PredicateValue)

    package static var luaType: LuaType { .union([.text, .function, PredicateValue.luaType]) }

    package init(lua value: LuaValue) throws(LuaMismatch) {
        switch value {
        case .function(let function): self = .function(function)
        case .userdata: self = .predicate(try PredicateValue(lua: value))
        default: self = .format(try String(lua: value))
        }
    }

    package func luaValue(in state: LuaState) -> LuaValue {
        switch self {
        case .format(let text): .text(text)
        case .function(let function): .function(function)
        case .predicate(let predicate): predicate.luaValue(in: state)
        }
    }
}

/// Read-only tables: the array and dictionary values of items.
///
/// A read-only table is an empty table whose metatable reads the real one; `ipairs`, `pairs` and `#` read through it.
/// The metatable also records whether an empty table is an array or a dictionary.
package struct ReadOnlyTable {
    /// The table's property-list type.
    package enum Shape: String { case array, dictionary, set }

    /// The elements of a lazy array.
    package final class Elements {
        package let count: Int
        /// The element at a position from 0.
        let element: (Int) throws -> LuaValue

        package init(count: Int, element: @escaping (Int) throws -> LuaValue) {
            self.count = count
            self.element = element
        }
    }

    package static var shapeKey: LuaValue { "__shape" }
    private static var contentsKey: LuaValue { "__contents" }

    private static var elementsKey: LuaValue { "__elements" }

    private let length: LuaFunction
    private let pairs: LuaFunction
    private let index: LuaFunction
    private let all: LuaFunction
    private let denial: LuaFunction
    private let dictionaryMark: LuaTable
    private let setMark: LuaTable
    private let elements: LuaClass<Elements>

    init(_ state: LuaState) {
        let variadic = [LuaParameter("…", .variadic(.any))]
        let elements = LuaClass<Elements>(hidden: "elements", in: state)
        self.elements = elements
        length = state.makeFunction(LuaFunctionDeclaration("#", variadic)) { call in
            if let elements = Self.elements(of: call.value(0), elements) { return call.returns(elements.count) }
            return call.returns(try Self.contents(of: call.value(0))?.count ?? 0)
        }
        let next = state.globals["next"]
        pairs = state.makeFunction(LuaFunctionDeclaration("pairs", variadic)) { call in
            try call.returns(values: [next, Self.contents(of: call.value(0)).map(LuaValue.table) ?? .nil, .nil])
        }
        index = state.makeFunction(LuaFunctionDeclaration("index", variadic)) { call in
            guard let elements = Self.elements(of: call.value(0), elements),
                let position = call.value(1).integerValue, position >= 1, position <= Int64(elements.count)
            else { return call.returns(LuaValue.nil) }
            return call.returns(try elements.element(Int(position - 1)))
        }
        all = state.makeFunction(LuaFunctionDeclaration("elements", variadic)) { call in
            let elements = Self.elements(of: call.value(0), elements)
            let table = call.state.makeTable(array: elements?.count ?? 0)
            for position in 0..<(elements?.count ?? 0) {
                table[position + 1] = try elements?.element(position) ?? .nil
            }
            return call.returns(LuaValue.table(table))
        }
        denial = state.makeFunction(LuaFunctionDeclaration("assignment", variadic)) { _ in
            throw LuaError(
                .argument,
                "this value is read-only: assign a new table to the item's field (or copy it with {table.unpack(t)})")
        }
        dictionaryMark = Self.mark(.dictionary, in: state)
        setMark = Self.mark(.set, in: state)
    }

    private static func mark(_ shape: Shape, in state: LuaState) -> LuaTable {
        state.makeTable(["__shape": shape.rawValue, "__name": shape.rawValue])
    }

    /// A read-only view of a table.
    package func make(_ contents: LuaTable, _ shape: Shape, in state: LuaState) -> LuaTable {
        let metatable = state.makeTable(fields: 8)
        metatable["__index"] = .table(contents)
        metatable["__newindex"] = .function(denial)
        metatable["__len"] = .function(length)
        metatable["__pairs"] = .function(pairs)
        metatable["__metatable"] = false
        metatable["__name"] = .text(shape.rawValue)
        metatable[Self.contentsKey] = .table(contents)
        metatable[Self.shapeKey] = .text(shape.rawValue)
        let table = state.makeTable()
        table.setMetatable(metatable)
        return table
    }

    /// A read-only array with lazy elements.
    package func makeArray(_ elements: Elements, in state: LuaState) -> LuaTable {
        let table = make(state.makeTable(), .array, in: state)
        guard let metatable = table.metatable else { return table }
        metatable["__index"] = .function(index)
        metatable[Self.contentsKey] = .function(all)
        metatable[Self.elementsKey] = self.elements.value(elements)
        return table
    }

    private static func elements(of value: LuaValue, _ cls: LuaClass<Elements>) -> Elements? {
        guard case .table(let table) = value, let metatable = table.metatable else { return nil }
        return cls.object(of: metatable[elementsKey])
    }

    /// Marks an ordinary table as a dictionary, for when it is empty.
    package func markDictionary(_ table: LuaTable) { table.setMetatable(dictionaryMark) }

    /// Marks an ordinary table with elements from 1 as a set.
    package func markSet(_ table: LuaTable) { table.setMetatable(setMark) }

    /// The table behind a read-only one; nil for any other value.
    package static func contents(of value: LuaValue) throws -> LuaTable? {
        guard case .table(let table) = value, let metatable = table.metatable else { return nil }
        switch metatable[contentsKey] {
        case .table(let contents): return contents
        case .function(let all):
            // All elements at once: each access would create one again.
            guard case .table(let contents)? = try all.call(value).first else { return nil }
            return contents
        default: return nil
        }
    }

    /// The mark of a table.
    package static func shape(of table: LuaTable) -> Shape? {
        table.metatable?[shapeKey].textValue.flatMap(Shape.init(exactly:))
    }
}
