/// A parameter of a function, or an option of an options table.
public struct LuaParameter: Sendable, Equatable {
    /// The name.
    package let name: String
    /// The type of its values.
    package let type: LuaType
    /// The documentation for help; may be empty.
    package let documentation: String

    /// Creates a parameter, or an option.
    package init(_ name: String, _ type: LuaType, _ documentation: String = "") {
        self.name = name
        self.type = type
        self.documentation = documentation
    }
}

/// A function or method. Argument checks, errors, help, completion and reference are generated from the
/// declaration.
@usableFromInline package struct LuaFunctionDeclaration: Sendable, Equatable {
    /// The name.
    package let name: String
    /// The parameters, in order.
    package let parameters: [LuaParameter]
    /// The types of the results.
    package let results: [LuaType]
    /// The documentation for help; may be empty.
    package let documentation: String
    /// A runnable example, or "".
    package let example: String

    /// Creates a function's declaration.
    @usableFromInline package init(
        _ name: String, _ parameters: [LuaParameter] = [], returns results: [LuaType] = [], doc: String = "",
        example: String = ""
    ) {
        self.name = name
        self.parameters = parameters
        self.results = results
        self.documentation = doc
        self.example = example
    }

    /// Whether it takes any number of arguments.
    var isVariadic: Bool { parameters.contains { $0.type.isVariadic } }

    /// `name(first, [second])`, followed by an arrow and the results.
    package func signature(owner: String = "") -> String {
        let list = parameters.map { parameter in
            if case .variadic = parameter.type { return "…" }
            return parameter.type.isOptional && parameter.type != .any ? "[\(parameter.name)]" : parameter.name
        }
        let result = results.isEmpty ? "" : " → " + results.map(\.name).joined(separator: ", ")
        return "\(owner)\(name)(\(list.joined(separator: ", ")))\(result)"
    }
}

/// A property of a class.
package struct LuaPropertyDeclaration: Sendable, Equatable {
    /// The name.
    package let name: String
    /// The type of its values.
    package let type: LuaType
    /// Whether scripts cannot assign it.
    package let isReadOnly: Bool
    /// The documentation for help; may be empty.
    package let documentation: String
}

/// An operator of a class: `#items`, `items[1]`, `d - e`.
package struct LuaOperatorDeclaration: Sendable, Equatable {
    /// The metamethod's name without underscores: `len`, `index`, `sub`.
    package let name: String
    /// The type of the other operand, or of an index's key; nil for none.
    package let operand: LuaType?
    /// The type of the result.
    package let result: LuaType
    /// The documentation for help; may be empty.
    package let documentation: String

    private static let symbols = [
        "add": "+", "sub": "-", "mul": "*", "div": "/", "idiv": "//", "mod": "%", "pow": "^", "concat": "..",
        "eq": "==",
        "lt": "<", "le": "<=",
    ]

    /// The operator's notation: `#items`, `items[integer]`, `date - number`.
    package func expression(on object: String) -> String {
        let other = operand?.name ?? ""
        switch name {
        case "len": return "#\(object)"
        case "index": return "\(object)[\(other)]"
        case "unm": return "-\(object)"
        case "call": return "\(object)(\(other))"
        default:
            guard let symbol = Self.symbols[name] else { return "\(name)(\(object), \(other))" }
            return "\(object) \(symbol) \(other)"
        }
    }
}

/// A class, a module or a global function, with all its declared members.
package struct LuaDeclaration: Sendable {
    /// The kind of declaration. A `global` has its function under the empty name, like a callable module.
    package enum Kind: String, Sendable {
        /// A class of objects.
        case `class`
        /// A global table of functions and values.
        case module
        /// A global function or value.
        case global
    }

    /// The kind of declaration.
    package let kind: Kind
    /// The name.
    package let name: String
    /// The documentation for help; may be empty.
    package let documentation: String
    /// Whether standard Lua has it: `io`, `print`.
    package internal(set) var isPartOfLua = false
    /// Whether the class's only object is a global of the class's name: `items`.
    package internal(set) var isGlobalObject = false
    /// Its operators.
    package internal(set) var operators: [LuaOperatorDeclaration] = []
    /// Its properties, or a module's values.
    package internal(set) var properties: [LuaPropertyDeclaration] = []
    /// Its methods and functions.
    package internal(set) var functions: [LuaFunctionDeclaration] = []
    /// A class's static functions, called with a dot.
    package internal(set) var statics: [LuaFunctionDeclaration] = []

    /// The separator before a function's name: a colon for methods, a dot for functions of a module.
    package var separator: String { kind == .class ? ":" : "." }

    /// The separator of one function: a dot for static functions.
    package func separator(of function: LuaFunctionDeclaration) -> String {
        statics.contains(function) ? "." : separator
    }

    /// A function with its owner: `items:createItem([fields]) → Item`, `date([moment]) → date`.
    package func signature(of function: LuaFunctionDeclaration) -> String {
        function.signature(owner: function.name.isEmpty ? name : name + separator(of: function))
    }

    /// Whether it is a global.
    package var isGlobal: Bool { kind != .class || isGlobalObject }

    /// The names of properties and functions.
    package var memberNames: [String] { properties.map(\.name) + functions.map(\.name) }
}

/// The declarations of a state, by name.
package struct LuaDeclarations: Sendable {
    /// All declarations, in the order in which they were made.
    package private(set) var all: [LuaDeclaration] = []

    mutating func add(_ declaration: LuaDeclaration) { all.append(declaration) }

    mutating func update(_ name: String, _ kind: LuaDeclaration.Kind? = nil, _ change: (inout LuaDeclaration) -> Void) {
        guard let index = all.lastIndex(where: { $0.name == name && $0.kind == (kind ?? $0.kind) }) else { return }
        change(&all[index])
    }

    /// The declaration with a name. The kind distinguishes a module from a class of the same name.
    package subscript(name: String, kind: LuaDeclaration.Kind? = nil) -> LuaDeclaration? {
        all.last { $0.name == name && $0.kind == (kind ?? $0.kind) }
    }
}

/// The documentation of an argument: a text, optionally with type information that its Swift type lacks.
public struct LuaArgument: ExpressibleByStringInterpolation, Sendable {
    let documentation: String
    /// Replaces or refines the Swift type's declaration.
    private var type: LuaType?

    /// Creates an argument with its Swift type.
    package init(_ documentation: String) { self.documentation = documentation }

    public init(stringLiteral value: String) { self.init(value) }

    /// A function with its signature: `.callback("(item: Item) → boolean", "selects items")`.
    public static func callback(_ signature: String, _ documentation: String) -> LuaArgument {
        var argument = LuaArgument(documentation)
        argument.type = .callback(signature)
        return argument
    }

    /// A `String` that must be one of some words.
    public static func choice(_ words: [String], _ documentation: String) -> LuaArgument {
        var argument = LuaArgument(documentation)
        argument.type = .choice(words)
        return argument
    }

    /// Refines the declared Swift type: gives its functions the signature, and its texts the words.
    func refine(_ type: LuaType) -> LuaType {
        switch (type, self.type) {
        case (_, nil): type
        case (.function, .callback?), (.callback, .callback?), (.text, .choice?): self.type ?? type
        case (.optional(let type), _): .optional(refine(type))
        case (.variadic(let type), _): .variadic(refine(type))
        case (.union(let types), _): .union(types.map(refine))
        default: type
        }
    }

    /// What a Swift type would have to take for the words or the signature; nil if it does, or takes any value.
    func contradiction(of type: LuaType) -> String? {
        switch self.type {
        case .callback where !type.takes(functions: true): "a function"
        case .choice where !type.takes(functions: false): "a text"
        default: nil
        }
    }
}

extension LuaType {
    /// Whether functions are values of the type, or else texts.
    fileprivate func takes(functions: Bool) -> Bool {
        switch self {
        case .any: true
        case .function, .callback: functions
        case .string, .text, .choice: !functions
        case .optional(let type), .variadic(let type): type.takes(functions: functions)
        case .union(let types): types.contains { $0.takes(functions: functions) }
        default: false
        }
    }
}

/// The names of a function's arguments, in order, with or without documentation: `["from", "to"]`, or
/// `["from": "the current position", "to": "the new position"]`. Their types are those of the function's closure, which takes
/// as many; or there are none, and the arguments are numbered.
public struct LuaArguments: ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral, Sendable {
    let all: [(name: String, argument: LuaArgument)]

    public init(arrayLiteral names: String...) { all = names.map { ($0, "") } }
    public init(dictionaryLiteral arguments: (String, LuaArgument)...) {
        all = arguments.map { (name: $0.0, argument: $0.1) }
    }
}
