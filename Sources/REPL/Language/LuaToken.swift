/// A token of Lua text, sufficient to highlight, indent and complete unfinished text.
struct LuaToken: Equatable {
    enum Kind: Equatable {
        case keyword, name, number
        /// A quoted or bracketed string; `isClosed` is false for an unfinished one.
        case string(isClosed: Bool)
        case comment(isClosed: Bool)
        /// An operator, a bracket, a separator.
        case symbol
        /// Bytes that are not Lua.
        case unknown
    }

    let kind: Kind
    /// Its range in UTF-8 bytes.
    let range: Range<Int>

    var isString: Bool { if case .string = kind { true } else { false } }
    var isComment: Bool { if case .comment = kind { true } else { false } }
}
