/// A piece of Lua text as the prompt sees it: good enough to colour, indent and complete what is still being typed.
struct LuaToken: Equatable {
    enum Kind: Equatable {
        case keyword, name, number
        /// A quoted or bracketed string; `isClosed` is false while its end has not been typed.
        case string(isClosed: Bool)
        case comment(isClosed: Bool)
        /// An operator, a bracket, a separator.
        case symbol
        /// Bytes that are no Lua.
        case unknown
    }

    let kind: Kind
    /// Where it stands, in UTF-8 bytes.
    let range: Range<Int>

    var isString: Bool { if case .string = kind { true } else { false } }
    var isComment: Bool { if case .comment = kind { true } else { false } }
}
