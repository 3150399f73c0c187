import Lua

extension LuaType {
    /// The type in LuaCATS notation.
    ///
    /// - Parameter options: the name of the class for a table of options.
    /// - Returns: `string`, `Item[]`, `fun(item: Item): boolean`.
    func annotation(options: String = "table") -> String {
        switch self {
        case .any: "any"
        case .boolean: "boolean"
        case .integer: "integer"
        case .number: "number"
        case .string, .text: "string"
        case .table: "table"
        case .function: "function"
        case .callback(let signature): "fun" + signature.replacing(" → ", with: ": ")
        case .object(let name): name
        case .array(let element): "\(element.grouped(options))[]"
        case .choice(let words): words.map { "\"\($0)\"" }.joined(separator: "|")
        case .options: options
        case .record(let name, _): "cubby.\(name)"
        case .union(let types): types.map { $0.member(options) }.joined(separator: "|")
        case .optional(.any): "any"
        case .optional(let inner): "\(inner.grouped(options))?"
        case .variadic(let inner): inner.annotation(options: options)
        }
    }

    /// As a member of a union; a callback's result type would include the following members.
    private func member(_ options: String) -> String {
        if case .callback(let signature) = self, signature.contains("→") { return grouped(options) }
        return annotation(options: options)
    }

    /// In parentheses where a following operator would bind to the last member only.
    private func grouped(_ options: String) -> String {
        switch self {
        case .union, .choice, .callback: "(\(annotation(options: options)))"
        default: annotation(options: options)
        }
    }

    /// The options of an options table, also within an optional or a union.
    var options: [LuaParameter]? {
        switch self {
        case .options(let options): options.all
        case .optional(let inner): inner.options
        case .union(let types): types.lazy.compactMap(\.options).first
        default: nil
        }
    }

    /// The name and the fields of a record, also within another type.
    var record: (name: String, fields: [LuaParameter])? {
        switch self {
        case .record(let name, let fields): (name, fields.all)
        case .optional(let inner), .array(let inner), .variadic(let inner): inner.record
        case .union(let types): types.lazy.compactMap(\.record).first
        default: nil
        }
    }
}
