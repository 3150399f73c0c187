/// A parameter of a function, or an option of an options table.
public struct LuaParameter: Sendable, Equatable {
    public let name: String
    public let type: LuaType
    public let documentation: String

    public init(_ name: String, _ type: LuaType, _ documentation: String = "") {
        self.name = name
        self.type = type
        self.documentation = documentation
    }
}

/// A function or method, declared once: its argument checks, errors, help, completion and reference come from here.
public struct LuaFunctionDeclaration: Sendable, Equatable {
    public let name: String
    public let parameters: [LuaParameter]
    public let results: [LuaType]
    public let documentation: String
    /// A runnable example, or "".
    public let example: String

    public init(
        _ name: String, _ parameters: [LuaParameter] = [], returns results: [LuaType] = [],
        _ documentation: String = "",
        example: String = ""
    ) {
        self.name = name
        self.parameters = parameters
        self.results = results
        self.documentation = documentation
        self.example = example
    }

    /// `name(first, [second])`, with the results behind an arrow.
    public func signature(owner: String = "") -> String {
        let list = parameters.map { parameter in
            if case .variadic = parameter.type { return "…" }
            return parameter.type.isOptional && parameter.type != .any ? "[\(parameter.name)]" : parameter.name
        }
        let result = results.isEmpty ? "" : " → " + results.map(\.name).joined(separator: ", ")
        return "\(owner)\(name)(\(list.joined(separator: ", ")))\(result)"
    }
}

/// A property of a class.
public struct LuaPropertyDeclaration: Sendable, Equatable {
    public let name: String
    public let type: LuaType
    public let isReadOnly: Bool
    public let documentation: String
}

/// A class or a module, with all that was declared of it.
public struct LuaDeclaration: Sendable {
    public enum Kind: Sendable { case `class`, module, global }

    public let kind: Kind
    public let name: String
    public let documentation: String
    public internal(set) var properties: [LuaPropertyDeclaration] = []
    public internal(set) var functions: [LuaFunctionDeclaration] = []
    /// A class's own functions, called with a dot.
    public internal(set) var statics: [LuaFunctionDeclaration] = []

    /// What stands between the name and a function: a colon for methods, a dot for functions of a module.
    public var separator: String { kind == .class ? ":" : "." }

    public var memberNames: [String] { properties.map(\.name) + functions.map(\.name) }
}

/// All that was declared to a state, by name.
public struct LuaDeclarations: Sendable {
    public private(set) var all: [LuaDeclaration] = []

    mutating func add(_ declaration: LuaDeclaration) { all.append(declaration) }

    mutating func update(_ name: String, _ change: (inout LuaDeclaration) -> Void) {
        guard let index = all.lastIndex(where: { $0.name == name }) else { return }
        change(&all[index])
    }

    public subscript(name: String) -> LuaDeclaration? { all.last { $0.name == name } }
}
