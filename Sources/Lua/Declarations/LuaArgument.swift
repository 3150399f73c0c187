/// The documentation of an argument: a text, optionally with type information that its Swift type lacks.
public struct LuaArgument: ExpressibleByStringInterpolation, Sendable {
    let documentation: String
    /// Replaces or refines the Swift type's declaration.
    private var type: LuaType?

    /// Creates an argument with its Swift type.
    public init(_ documentation: String) { self.documentation = documentation }

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
}
