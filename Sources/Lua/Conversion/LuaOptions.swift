internal import Synchronization

/// A table of named, optional entries; an unknown name is an error. Declared as a struct with defaults:
///
/// ```swift
/// struct Format: LuaOptions {
///     var quality = 0.5
///     var title: String?
///     static var luaOptions: [LuaOption<Format>] {
///         LuaOption("quality", \.quality, doc: "0 to 1 (default: 0.5)")
///         LuaOption("title", \.title, doc: "the page's")
///     }
/// }
///
/// module.function("export", ["path", "options"], doc: "Writes a page.") { (path: String, options: Format) in … }
/// ```
public protocol LuaOptions: LuaRepresentable, SendableMetatype {
    /// Creates the defaults.
    init()

    /// The options by name.
    @LuaOptionList<Self> static var luaOptions: [LuaOption<Self>] { get }
}

extension LuaOptions {
    public static var luaType: LuaType { .optional(.options(LuaFields(madeBy: { luaOptions.map { $0.declaration } }))) }

    public init(lua value: LuaValue) throws(LuaMismatch) {
        self.init()
        guard case .table(let table) = value else {
            if value.isNil { return }
            throw LuaMismatch(Self.luaType, value)
        }
        let options = Self.luaOptions
        let names = options.map(\.declaration.name)
        for key in try table.keys() where !names.contains(where: { .text($0) == key }) {
            throw LuaMismatch(LuaType.unknownOption(key, among: names))
        }
        for option in options {
            let given = table[option.declaration.name]
            if given.isNil { continue }
            do throws(LuaMismatch) { try option.assign(&self, given) } catch {
                throw error.at("option '\(option.declaration.name)'")
            }
        }
    }

    public func luaValue(in state: LuaState) -> LuaValue {
        let table = state.makeTable(fields: Self.luaOptions.count)
        for option in Self.luaOptions { table[option.declaration.name] = option.value(self, state) }
        return .table(table)
    }
}

/// An option of a ``LuaOptions`` struct: a property of the struct with its name for scripts.
public struct LuaOption<Options> {
    let declaration: LuaParameter
    let assign: (inout Options, LuaValue) throws(LuaMismatch) -> Void
    let value: (Options, LuaState) -> LuaValue

    /// Creates an option of the property's type, or the wrapped type of an optional property.
    public init<Value: LuaRepresentable>(
        _ name: String, _ path: WritableKeyPath<Options, Value>, doc: LuaArgument
    ) {
        declaration = LuaParameter(name, doc.refine(Value.luaType.wrapped), doc.documentation)
        assign = { options, value throws(LuaMismatch) in options[keyPath: path] = try Value(lua: value) }
        value = { options, state in options[keyPath: path].luaValue(in: state) }
    }
}

/// Builds the list of a struct's options.
@resultBuilder
public enum LuaOptionList<Options> {
    /// An option.
    public static func buildExpression(_ option: LuaOption<Options>) -> LuaOption<Options> { option }
    /// Options in order.
    public static func buildBlock(_ options: LuaOption<Options>...) -> [LuaOption<Options>] { options }
}

/// The fields of a declared table, in order. They are made on first access, so that a program starts without those
/// not used by any call, help or completion.
public struct LuaFields: RandomAccessCollection, ExpressibleByArrayLiteral, Equatable, Sendable {
    private final class Storage: Sendable {
        private let made: Mutex<[LuaParameter]?>
        private let make: @Sendable () -> [LuaParameter]

        init(_ made: [LuaParameter]?, _ make: @escaping @Sendable () -> [LuaParameter]) {
            self.made = Mutex(made)
            self.make = make
        }

        var fields: [LuaParameter] {
            if let fields = made.withLock(\.self) { return fields }
            // Outside of the lock: a field's type may have fields, even the same ones.
            let fields = make()
            return made.withLock { made in
                made = made ?? fields
                return fields
            }
        }
    }

    private let storage: Storage

    /// Creates existing fields.
    package init(_ fields: [LuaParameter]) { storage = Storage(fields) { fields } }

    /// Creates fields that are made on first access, possibly by several threads.
    init(madeBy make: @escaping @Sendable () -> [LuaParameter]) { storage = Storage(nil, make) }

    public init(arrayLiteral fields: LuaParameter...) { self.init(fields) }

    /// The fields as an array.
    package var all: [LuaParameter] { storage.fields }

    public var startIndex: Int { 0 }
    public var endIndex: Int { all.count }
    public subscript(position: Int) -> LuaParameter { all[position] }

    public static func == (a: LuaFields, b: LuaFields) -> Bool { a.all == b.all }
}
