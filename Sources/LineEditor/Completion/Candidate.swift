/// A completion candidate.
public struct Candidate: Hashable, Sendable {
    /// The kind of a candidate, shown beside it.
    public enum Kind: String, Hashable, Sendable {
        /// No particular kind.
        case none = ""
        /// A keyword of the language.
        case keyword
        /// A variable.
        case variable
        /// A constant.
        case constant
        /// A function.
        case function
        /// A method.
        case method
        /// A field.
        case field
        /// A module.
        case module
        /// A type.
        case type = "class"
        /// An event.
        case event
        /// A key of a table.
        case key
        /// A string.
        case string
        /// A file.
        case file
        /// A folder.
        case folder
        /// A command of the prompt.
        case command
    }

    /// The text that replaces the range.
    public var text: String
    /// The menu's text, if different.
    public var label: String
    /// The kind, shown in the menu.
    public var kind: Kind
    /// A short detail beside it: a signature, a type.
    public var detail: String
    /// The text that follows an accepted candidate: a parenthesis, a closing quote.
    public var suffix: String
    /// A sentence of documentation, shown below the menu while selected.
    public var documentation: String

    /// Creates a candidate with the text that it inserts.
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
