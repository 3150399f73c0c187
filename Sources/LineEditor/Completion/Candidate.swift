/// A completion candidate.
public struct Candidate: Hashable, Sendable {
    /// The kind of a candidate, shown beside it.
    public enum Kind: String, Hashable, Sendable {
        case none = ""
        case keyword, variable, constant, function, method, field, module, type = "class", event, key, string, file
        case folder, command
    }

    /// The text that replaces the range.
    public var text: String
    /// The menu's text, if different.
    public var label: String
    public var kind: Kind
    /// A short detail beside it: a signature, a type.
    public var detail: String
    /// The text that follows an accepted candidate: a parenthesis, a closing quote.
    public var suffix: String
    /// A sentence of documentation, shown below the menu while selected.
    public var documentation: String

    public init(
        _ text: String, label: String? = nil, kind: Kind = .none, detail: String = "", suffix: String = "",
        documentation: String = ""
    ) {
        self.text = text
        self.label = label ?? text
        self.kind = kind
        self.detail = detail
        self.suffix = suffix
        self.documentation = documentation
    }
}
