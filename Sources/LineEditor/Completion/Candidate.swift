/// One way to complete what was typed.
public struct Candidate: Hashable, Sendable {
    /// What a candidate stands for, shown beside it.
    public enum Kind: String, Hashable, Sendable {
        case none = ""
        case keyword, variable, constant, function, method, field, module, type = "class", event, key, string, file
        case folder, command
    }

    /// What is put in the place of the replaced range.
    public var text: String
    /// What the menu shows, if it isn't the text.
    public var label: String
    public var kind: Kind
    /// A few words beside it: a signature, a type.
    public var detail: String
    /// What follows when the candidate is taken for good and not just looked at: a parenthesis, a closing quote.
    public var suffix: String
    /// A sentence about it, shown below the menu while it is selected.
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
