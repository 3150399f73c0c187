/// A Swift type with a counterpart in Lua, used to declare functions and properties:
///
/// ```swift
/// enum Mode: String, CaseIterable, LuaRepresentable { case dim, bright }
///
/// lamps.property("mode", doc: "How it shines.", get: { $0.mode }, set: { $0.mode = $1 })
/// lamps.method("blink", ["pattern", "mode"], doc: "Blinks.") { (lamp, pattern: [Double], mode: Mode?) in
///     lamp.blink(pattern, mode ?? .bright)
/// }
/// ```
public protocol LuaRepresentable {
    /// The type in declarations.
    static var luaType: LuaType { get }

    /// The result types of a function that returns this type. The default is the type itself.
    static var luaResults: [LuaType] { get }

    /// Converts a Lua value.
    ///
    /// - Throws: `LuaMismatch` for a value of another type.
    init(lua value: LuaValue) throws(LuaMismatch)

    /// Converts to a Lua value.
    func luaValue(in state: LuaState) -> LuaValue

    /// Reads an argument. The default implementation suffices.
    static func read(_ call: LuaCall, at position: Int) throws(LuaMismatch) -> Self

    /// Pushes the value as a result. The default implementation suffices.
    func push(as call: LuaCall) throws(LuaError) -> LuaResults
}

extension LuaRepresentable {
    public static var luaResults: [LuaType] { [luaType] }

    @inlinable
    public static func read(_ call: LuaCall, at position: Int) throws(LuaMismatch) -> Self {
        do { return try Self(lua: call.value(position)) } catch { throw call.refuse(position, error.message) }
    }

    @inlinable
    public func push(as call: LuaCall) throws(LuaError) -> LuaResults { call.returns(luaValue(in: call.state)) }
}

/// A type mismatch, described in words: `integer expected, got string`.
///
/// If a declared function throws it with an argument's name, the error names the function and the argument.
public struct LuaMismatch: Error, Equatable, CustomStringConvertible {
    private enum Reason {
        case text(String)
        /// Formatted on demand: an argument of several possible types is tried with each.
        case type(LuaType, got: String)
    }

    private let reason: Reason
    /// The name of the refused argument; nil outside of calls.
    let argument: String?
    /// The position of the refused argument, for a value that is read by its position.
    let position: Int?

    /// The description.
    public var message: String {
        switch reason {
        case .text(let message): message
        case .type(let type, let got): "\(type.name) expected, got \(got)"
        }
    }

    public var description: String { message }

    /// Creates a mismatch, for an ``LuaRepresentable/init(lua:)`` or for an argument.
    public init(_ message: String, argument: String? = nil) {
        (reason, self.argument, position) = (.text(message), argument, nil)
    }

    init(_ message: String, at position: Int) { (reason, argument, self.position) = (.text(message), nil, position) }

    @usableFromInline
    init(_ type: LuaType, _ value: LuaValue) {
        var got = value.typeName
        if case .userdata(let userdata) = value, let name = userdata.className { got = name }
        if case .string(let string) = value, type.takesText, string.text == nil { got = LuaType.otherBytes }
        (reason, argument, position) = (.type(type, got: got), nil, nil)
    }

    public static func == (a: LuaMismatch, b: LuaMismatch) -> Bool {
        (a.message, a.argument, a.position) == (b.message, b.argument, b.position)
    }

    func at(_ place: String) -> LuaMismatch { LuaMismatch("\(place): \(message)") }
}

extension Bool: LuaRepresentable {
    public static var luaType: LuaType { .boolean }

    public init(lua value: LuaValue) throws(LuaMismatch) {
        guard case .boolean(let value) = value else { throw LuaMismatch(Self.luaType, value) }
        self = value
    }

    public func luaValue(in state: LuaState) -> LuaValue { .boolean(self) }
    public static func read(_ call: LuaCall, at position: Int) throws(LuaMismatch) -> Bool { call.boolean(position) }
    public func push(as call: LuaCall) -> LuaResults { call.returns(self) }
}

extension Double: LuaRepresentable {
    public static var luaType: LuaType { .number }

    public init(lua value: LuaValue) throws(LuaMismatch) {
        guard let number = value.numberValue else { throw LuaMismatch(Self.luaType, value) }
        if case .integer(let integer) = value, Int64(exactly: number) != integer { throw Self.refusing(integer) }
        self = number
    }

    /// An integer beyond 2^53 between two floating-point numbers.
    static func refusing(_ integer: Int64) -> LuaMismatch {
        LuaMismatch("\(integer) has no exact floating-point number")
    }

    public func luaValue(in state: LuaState) -> LuaValue { .number(self) }
    public static func read(_ call: LuaCall, at position: Int) throws(LuaMismatch) -> Double {
        try call.number(position)
    }
    public func push(as call: LuaCall) -> LuaResults { call.returns(self) }
}

/// A Lua number, rounded; one that would become infinity or 0 is refused.
extension Float: LuaRepresentable {
    public static var luaType: LuaType { .number }
    public init(lua value: LuaValue) throws(LuaMismatch) {
        guard let number = value.numberValue else { throw LuaMismatch(Self.luaType, value) }
        self = Float(number)
        guard isFinite || !number.isFinite, !isZero || number.isZero else {
            throw LuaMismatch("\(number) is beyond the range of single precision")
        }
    }
    public func luaValue(in state: LuaState) -> LuaValue { .number(Double(self)) }
}

extension String: LuaRepresentable {
    public static var luaType: LuaType { .text }

    public init(lua value: LuaValue) throws(LuaMismatch) {
        guard let text = try LuaString(lua: value).text else {
            throw LuaMismatch("UTF-8 text expected, got other bytes")
        }
        self = text
    }

    public func luaValue(in state: LuaState) -> LuaValue { .text(self) }
    public static func read(_ call: LuaCall, at position: Int) throws(LuaMismatch) -> String { try call.text(position) }
    public func push(as call: LuaCall) -> LuaResults { call.returns(self) }
}

/// A string of any bytes.
extension LuaString: LuaRepresentable {
    public static var luaType: LuaType { .string }

    public init(lua value: LuaValue) throws(LuaMismatch) {
        guard case .string(let string) = value else {
            guard let text = value.errorText else { throw LuaMismatch(Self.luaType, value) }
            self = LuaString(text)
            return
        }
        self = string
    }

    public func luaValue(in state: LuaState) -> LuaValue { .string(self) }
    public static func read(_ call: LuaCall, at position: Int) throws(LuaMismatch) -> LuaString {
        LuaString(try call.bytes(position))
    }
    public func push(as call: LuaCall) -> LuaResults { call.returns(self) }
}

/// A value of any type.
extension LuaValue: LuaRepresentable {
    public static var luaType: LuaType { .any }
    public init(lua value: LuaValue) throws(LuaMismatch) { self = value }
    public func luaValue(in state: LuaState) -> LuaValue { self }
    public static func read(_ call: LuaCall, at position: Int) -> LuaValue { call.value(position) }
    public func push(as call: LuaCall) -> LuaResults { call.returns(self) }
}

extension LuaTable: LuaRepresentable {
    public static var luaType: LuaType { .table }

    public init(lua value: LuaValue) throws(LuaMismatch) {
        guard case .table(let table) = value else { throw LuaMismatch(Self.luaType, value) }
        self = table
    }

    public func luaValue(in state: LuaState) -> LuaValue { .table(self) }
}

extension LuaFunction: LuaRepresentable {
    public static var luaType: LuaType { .function }

    public init(lua value: LuaValue) throws(LuaMismatch) {
        guard let function = value.callable else { throw LuaMismatch(Self.luaType, value) }
        self = function
    }

    public func luaValue(in state: LuaState) -> LuaValue { .function(self) }
}

/// The wrapped value, or nil.
extension Optional: LuaRepresentable where Wrapped: LuaRepresentable {
    public static var luaType: LuaType { .optional(Wrapped.luaType) }
    public init(lua value: LuaValue) throws(LuaMismatch) { self = value.isNil ? nil : try Wrapped(lua: value) }
    public func luaValue(in state: LuaState) -> LuaValue { self?.luaValue(in: state) ?? .nil }

    @inlinable
    public static func read(_ call: LuaCall, at position: Int) throws(LuaMismatch) -> Wrapped? {
        call.isNil(position) ? nil : try Wrapped.read(call, at: position)
    }

    @inlinable
    public func push(as call: LuaCall) throws(LuaError) -> LuaResults {
        try self?.push(as: call) ?? call.returns(LuaValue.nil)
    }
}

/// Integers of at most 64 bits. Lua numbers out of range or with a fraction are refused.
extension LuaRepresentable where Self: FixedWidthInteger {
    public static var luaType: LuaType { .integer }

    public init(lua value: LuaValue) throws(LuaMismatch) {
        guard let integer = value.integerValue else { throw LuaMismatch(Self.luaType, value) }
        guard let exact = Self(exactly: integer) else { throw Self.refusing(integer) }
        self = exact
    }

    public func luaValue(in state: LuaState) -> LuaValue { .integer(Int64(self)) }

    @inlinable
    public static func read(_ call: LuaCall, at position: Int) throws(LuaMismatch) -> Self {
        let integer = try call.integer(position)
        guard let exact = Self(exactly: integer) else { throw call.refuse(position, refusing(integer).message) }
        return exact
    }

    @inlinable
    public func push(as call: LuaCall) throws(LuaError) -> LuaResults { call.returns(Int64(self)) }

    @usableFromInline
    static func refusing(_ integer: Int64) -> LuaMismatch {
        LuaMismatch("integer from \(Self.min) to \(Self.max) expected, got \(integer)")
    }
}

extension Int: LuaRepresentable {}
extension Int8: LuaRepresentable {}
extension Int16: LuaRepresentable {}
extension Int32: LuaRepresentable {}
extension Int64: LuaRepresentable {}
extension UInt8: LuaRepresentable {}
extension UInt16: LuaRepresentable {}
extension UInt32: LuaRepresentable {}

/// An enum without payloads is a string in Lua: the case's raw text or name. The error for an unknown word lists the
/// nearest cases.
extension LuaRepresentable where Self: CaseIterable {
    public static var luaType: LuaType { .choice(allCases.map { word(of: $0) }) }

    public init(lua value: LuaValue) throws(LuaMismatch) {
        self = try Self.find(value) { word in Self.allCases.first { Self.word(of: $0) == word } }
    }

    public func luaValue(in state: LuaState) -> LuaValue { .text(Self.word(of: self)) }

    fileprivate static func find(_ value: LuaValue, _ known: (String) -> Self?) throws(LuaMismatch) -> Self {
        guard let word = value.textValue else { throw LuaMismatch(luaType, value) }
        if let found = known(word) { return found }
        let hint = NearestNames.hint(for: word, among: allCases.map { Self.word(of: $0) })
        throw LuaMismatch("\(luaType.name) expected, got \"\(word)\"\(hint)")
    }

    private static func word(of value: Self) -> String {
        (value as? any RawRepresentable)?.rawValue as? String ?? "\(value)"
    }
}

/// An enum with text raw values, converted without examining each case.
extension LuaRepresentable where Self: CaseIterable & RawRepresentable<String> {
    public static var luaType: LuaType { .choice(allCases.map { $0.rawValue }) }
    public init(lua value: LuaValue) throws(LuaMismatch) { self = try Self.find(value, Self.init(exactly:)) }
    public func luaValue(in state: LuaState) -> LuaValue { .text(rawValue) }
}

/// A sequence from 1, copied: later changes in Lua do not appear in Swift, nor the reverse. Another key than a position,
/// or the field `n` of `table.pack`, is refused. An array with nil inside has its count as `n`.
extension Array: LuaRepresentable where Element: LuaRepresentable {
    public static var luaType: LuaType { .array(Element.luaType) }

    public init(lua value: LuaValue) throws(LuaMismatch) {
        guard case .table(let table) = value else { throw LuaMismatch(Self.luaType, value) }
        self = try table.converting { session throws(LuaMismatch) in
            let count = try session.countElements(of: table)
            var elements: [Element] = []
            elements.reserveCapacity(Swift.min(count, 1 << 16))
            for position in stride(from: 1, through: count, by: 1) {
                let element = try session.read(table, .integer(Int64(position)))
                do throws(LuaMismatch) {
                    elements.append(try Element(lua: element))
                } catch { throw error.at("element \(position)") }
            }
            return elements
        }
    }

    public func luaValue(in state: LuaState) -> LuaValue {
        let table = state.makeTable(array: count)
        var hasHoles = false
        for (position, element) in enumerated() {
            // What does not fit into the memory limit is refused as a whole.
            guard !state.isRefusing else { break }
            let value = element.luaValue(in: state)
            table[position + 1] = value
            hasHoles = hasHoles || value.isNil
        }
        // Lua's `#` is undefined for a table with holes.
        if hasHoles { table["n"] = .integer(Int64(count)) }
        return .table(table)
    }
}

/// A table with keys of one type, copied like an array; other keys are refused.
extension Dictionary: LuaRepresentable where Key: LuaRepresentable, Value: LuaRepresentable {
    public static var luaType: LuaType { .table }

    public init(lua value: LuaValue) throws(LuaMismatch) {
        guard case .table(let table) = value else { throw LuaMismatch(Self.luaType, value) }
        self = try table.converting { session throws(LuaMismatch) in
            var fields: [Key: Value] = [:]
            for key in try session.keys(of: table) {
                let value = try Self.field(key, try session.read(table, key))
                guard fields.updateValue(value, forKey: try Self.key(key)) == nil else {
                    throw LuaMismatch("two keys are equal as keys in Swift: \(key)")
                }
            }
            return fields
        }
    }

    private static func key(_ key: LuaValue) throws(LuaMismatch) -> Key {
        do { return try Key(lua: key) } catch {
            let kind = Key.self == String.self ? "name" : Key.luaType.name
            throw LuaMismatch("\(kind)s as keys expected, got \(key.typeName.withArticle)")
        }
    }

    private static func field(_ key: LuaValue, _ value: LuaValue) throws(LuaMismatch) -> Value {
        do { return try Value(lua: value) } catch {
            throw error.at(key.textValue.map { "field '\($0)'" } ?? "field [\(key)]")
        }
    }

    public func luaValue(in state: LuaState) -> LuaValue {
        let table = state.makeTable(fields: count)
        for (key, value) in self where !state.isRefusing {
            table[key.luaValue(in: state)] = value.luaValue(in: state)
        }
        return .table(table)
    }
}

extension LuaTable {
    /// The keys, within the limits of one conversion.
    func keys() throws(LuaMismatch) -> [LuaValue] {
        try converting { session throws(LuaMismatch) in try session.keys(of: self) }
    }

    /// Converts the table within the limits of one conversion: that of the collection around it, or a new one.
    fileprivate func converting<Result>(
        _ body: (DecodingSession) throws(LuaMismatch) -> Result
    ) throws(LuaMismatch) -> Result {
        try state.converting({ DecodingSession(state) }, body)
    }
}

extension DecodingSession {
    fileprivate func countElements(of table: LuaTable) throws(LuaMismatch) -> Int {
        try mismatching { try elementCount(of: table) }
    }

    fileprivate func read(_ table: LuaTable, _ key: LuaValue) throws(LuaMismatch) -> LuaValue {
        try mismatching {
            let value = try value(of: table, at: key)
            // Unlike the decoder, each element copies its text.
            if case .string(let string) = value { try count.count(0, allocates: string.bytes.count) }
            return value
        }
    }

    fileprivate func keys(of table: LuaTable) throws(LuaMismatch) -> [LuaValue] {
        try mismatching {
            var keys: [LuaValue] = []
            try forEachKey(of: table) { key in
                if case .string(let name) = key { try count.count(0, bytes: name.bytes.count) }
                keys.append(key)
            }
            return keys
        }
    }

    /// A limit, or a stop, as the refusal of the argument. The stop itself follows when the function returns.
    private func mismatching<Result>(_ body: () throws -> Result) throws(LuaMismatch) -> Result {
        do { return try body() } catch {
            throw (error as? LuaMismatch) ?? LuaMismatch((error as? LuaError)?.message ?? "\(error)")
        }
    }
}

/// The result of a function that may fail for external reasons: the value, or nil and the error.
///
/// ```swift
/// module.function("read", ["path"], doc: "A file's text.") { (path: String) in
///     Result { () throws(FileError) in try files.text(of: path) }
/// }
/// ```
///
/// An error thrown by the function is raised instead.
extension Result: LuaRepresentable where Success: LuaRepresentable {
    public static var luaType: LuaType { luaResults[0] }

    public static var luaResults: [LuaType] { LuaType.orError(Success.luaType.wrapped) }

    /// Creates a success.
    public init(lua value: LuaValue) throws(LuaMismatch) { self = .success(try Success(lua: value)) }

    /// The value; nil for a failure.
    public func luaValue(in state: LuaState) -> LuaValue { (try? get())?.luaValue(in: state) ?? .nil }

    @inlinable
    public func push(as call: LuaCall) throws(LuaError) -> LuaResults {
        switch self {
        case .success(let value): try value.push(as: call)
        case .failure(let error): call.returns(failure: error)
        }
    }
}
