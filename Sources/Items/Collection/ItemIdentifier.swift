public import FoundationEssentials

/// The type of a model's own key: `UUID` or `String`.
public protocol ItemIdentifier: ItemValue {
    /// The key of the model's item.
    var itemKey: String { get }

    /// The value that a key stands for; nil for a key of another form.
    init?(itemKey: String)
}

extension String: ItemIdentifier {
    public var itemKey: String { self }
    public init?(itemKey: String) { self = itemKey }
}

extension UUID: ItemIdentifier {
    public var itemKey: String { uuidString }

    public init?(itemKey: String) {
        // One text for each UUID: an item under another spelling would not be found again.
        self.init(text: itemKey, takesLowercase: false)
    }
}
