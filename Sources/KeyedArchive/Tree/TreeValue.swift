public import PropertyList

/// What a node of an `ArchiveTree` is.
public struct TreeValue {
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
        /// What cannot be read, and why.
        case broken(ArchiveError)
    }

    public var content: Content
    /// The class that an archive names; nil for leaves and for what is in no object.
    public var className: String?
    /// What tells objects apart; nil for leaves.
    public var identity: Int?
    /// How many values it holds.
    public var count = 0

    init(_ content: Content, className: String? = nil, identity: Int? = nil, count: Int = 0) {
        self.content = content
        self.className = className
        self.identity = identity
        self.count = count
    }

    /// Whether this is text or data in no object of its own that takes time to look at: whoever meets it in many places
    /// remembers what was seen.
    var isLongLeaf: Bool {
        guard identity == nil, case .leaf(let leaf) = content else { return false }
        return switch leaf {
        case .string(let text): text.utf8.count > 512
        case .data(let bytes): bytes.count > 512
        default: false
        }
    }
}
