internal import CPlatform

/// Limits for untrusted input. Input beyond a limit is an error that names the limit.
public struct PropertyListLimits: Sendable, Hashable {
    /// Maximum size of the input, in bytes.
    public var maximumBytes: Int
    /// Maximum number of objects in the object table of a binary property list.
    public var maximumObjects: Int
    /// Maximum nesting depth of containers.
    public var maximumDepth: Int
    /// Maximum number of values in the expanded tree of a property list. Shared containers count each time, because a
    /// few hundred bytes may expand to 2^60 values. Independent of this limit an object counts at most 64 times on
    /// average, plus 65,536 values in total.
    public var maximumValues: Int
    /// Maximum size of a string or data, in bytes as stored.
    public var maximumLeafBytes: Int

    /// Creates limits; omitted ones are the standard ones.
    public init(
        maximumBytes: Int = 1 << 34,
        maximumObjects: Int = 1 << 30,
        maximumDepth: Int = 512,
        maximumValues: Int = 1 << 26,
        maximumLeafBytes: Int = 1 << 31
    ) {
        self.maximumBytes = maximumBytes
        self.maximumObjects = maximumObjects
        self.maximumDepth = maximumDepth
        self.maximumValues = maximumValues
        self.maximumLeafBytes = maximumLeafBytes
    }

    /// The limit of the expanded tree of a property list with `count` objects.
    package func maximumValues(ofObjects count: Int) -> Int {
        ConversionBudget.unfolded(from: count, atMost: maximumValues)
    }

    /// The end of a message if containers may not nest so deep, else nil. A recursion calls this at each level, since
    /// the thread's stack may be too small for the depth limit.
    package func refusal(atDepth depth: Int) -> String? {
        if depth >= maximumDepth { return "deeper than the limit of \(maximumDepth)" }
        return cubby_stack_is_short() == 0 ? nil : "deeper than the thread's stack allows"
    }

    /// Limits for files of unknown origin.
    public static let standard = PropertyListLimits()
}
