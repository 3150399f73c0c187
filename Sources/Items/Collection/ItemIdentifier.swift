public import FoundationEssentials

/// The type of a model's own key: `UUID` or `String`.
public protocol ItemIdentifier: ItemValue {
    /// The item key for this value.
    var itemKey: String { get }

    /// Creates the value for an item key; nil for a key of another form.
    init?(itemKey: String)
}

extension String: ItemIdentifier {
    public var itemKey: String { self }
    public init?(itemKey: String) { self = itemKey }
}

extension UUID: ItemIdentifier {
    public var itemKey: String { uuidString }

    public init?(itemKey: String) {
        // Only one spelling per UUID: an item with another spelling would not be found again.
        self.init(text: itemKey, takesLowercase: false)
    }
}
