internal import CPlatform

/// How much of untrusted input a reader is ready to take; each limit that is passed gives an error that names it.
public struct PropertyListLimits: Sendable, Hashable {
    /// The largest input, in bytes.
    public var maximumBytes: Int
    /// The largest number of objects in the object table of a binary property list.
    public var maximumObjects: Int
    /// How deep containers may nest.
    public var maximumDepth: Int
    /// The largest number of values in the tree that a property list unfolds to. Shared containers count each time, so
    /// that a few hundred bytes cannot stand for 2^60 values. Whatever the limit, no object counts more than 64 times on
    /// average, but for 65,536 values in all.
    public var maximumValues: Int
    /// The largest string or data, in bytes as stored.
    public var maximumLeafBytes: Int

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

    /// How many values the tree of a property list of some objects may have: what is shared may count many times, but not
    /// so often that a few hundred bytes stand for all memory.
    package func maximumValues(ofObjects count: Int) -> Int {
        ConversionBudget.unfolded(from: count, atMost: maximumValues)
    }

    /// Why containers may not nest so deep, as the end of a message; nil when they may. A recursion asks at each level: the
    /// thread's stack may be smaller than the limit needs.
    package func refusal(atDepth depth: Int) -> String? {
        if depth >= maximumDepth { return "deeper than the limit of \(maximumDepth)" }
        return cubby_stack_is_short() == 0 ? nil : "deeper than the thread's stack allows"
    }

    public static let standard = PropertyListLimits()
}
