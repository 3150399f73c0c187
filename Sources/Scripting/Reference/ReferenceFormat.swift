/// The formats of the reference.
public enum ReferenceFormat: String, Sendable, CaseIterable {
    /// Annotations for lua-language-server and other editors.
    case luacats
    /// Markdown, a page for each module.
    case markdown
    /// JSON, for tools.
    case json
}
