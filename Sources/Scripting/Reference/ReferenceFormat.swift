/// The formats of the reference.
public enum ReferenceFormat: String, Sendable, CaseIterable {
    /// Annotations for lua-language-server and other editors.
    case luacats
    case markdown
    case json
}
