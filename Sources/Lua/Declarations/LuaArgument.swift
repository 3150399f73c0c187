/// What an argument is, for help: a text, or a text and what its Swift type does not say.
public struct LuaArgument: ExpressibleByStringInterpolation, Sendable {
    let documentation: String
    /// What the declaration has in place of the Swift type's.
    private var type: LuaType?

    /// An argument of its Swift type.
    public init(_ documentation: String) { self.documentation = documentation }

    public init(stringLiteral value: String) { self.init(value) }

    /// A function with its signature: `.callback("(item: Item) → boolean", "what decides")`.
    public static func callback(_ signature: String, _ documentation: String) -> LuaArgument {
        var argument = LuaArgument(documentation)
        argument.type = .callback(signature)
        return argument
    }

    /// One of some words, of a `String`.
    public static func choice(_ words: [String], _ documentation: String) -> LuaArgument {
        var argument = LuaArgument(documentation)
        argument.type = .choice(words)
        return argument
    }

    /// The declared type, from that of the Swift type: its functions have the signature, its texts are the words.
    func refine(_ type: LuaType) -> LuaType {
        switch (type, self.type) {
        case (_, nil): type
        case (.function, .callback?), (.callback, .callback?), (.text, .choice?): self.type ?? type
        case (.optional(let type), _): .optional(refine(type))
        case (.union(let types), _): .union(types.map(refine))
        default: type
        }
    }
}
