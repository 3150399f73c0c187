public import PropertyList

/// The value of a node of an `ArchiveTree`.
public struct TreeValue {
    /// The content of a node.
    public enum Content {
        /// Nil: a reference to no object.
        case nothing
        /// A string, number, date, data or null.
        case leaf(PropertyListValue)
        /// One of Foundation's small value classes.
        case value(FoundationValue)
        /// Values in order: an array, an ordered set.
        case list
        /// Values in no order: a set.
        case bag
        /// Values by key: a dictionary.
        case dictionary
        /// Values by key: an instance of any other class.
        case object
        /// An unreadable value.
        case broken(ArchiveError)
    }

    /// The content of the node.
    public var content: Content
    /// The class name in the archive; nil for leaves and plain values.
    public var className: String?
    /// The object's identity; nil for leaves.
    public var identity: Int?
    /// The number of values in it.
    public var count = 0
    /// The number of fields that its class does not read, which are shown after its value, elements or entries.
    public var fieldCount = 0

    init(_ content: Content, className: String? = nil, identity: Int? = nil, count: Int = 0, fieldCount: Int = 0) {
        self.content = content
        self.className = className
        self.identity = identity
        self.count = count
        self.fieldCount = fieldCount
    }

    /// Whether it has children.
    var hasParts: Bool { count + fieldCount > 0 }

    /// Whether this is a value without parts and without a number of its own in JSON.
    var isPlainLeaf: Bool {
        guard case .leaf(let leaf) = content, fieldCount == 0 else { return false }
        return leaf != .null
    }

    var isPlainDictionary: Bool {
        guard case .dictionary = content else { return false }
        return className == nil || className == "NSDictionary" || className == "NSMutableDictionary"
    }

    var isAttributedString: Bool {
        guard case .object = content else { return false }
        return className == "NSAttributedString" || className == "NSMutableAttributedString"
    }

    /// Whether this is inline text or data that is expensive to process, whose result is cached.
    var isLongLeaf: Bool {
        guard identity == nil, case .leaf(let leaf) = content else { return false }
        return switch leaf {
        case .string(let text): text.utf8.count > 512
        case .utf16(let units): units.count > 512
        case .data(let bytes): bytes.count > 512
        default: false
        }
    }
}
