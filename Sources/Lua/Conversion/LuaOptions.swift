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
/// module.function("export", ["path", "options"], "Writes a page.") { (path: String, options: Format) in … }
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
        for option in Self.luaOptions {
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
