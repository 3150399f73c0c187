/// The limits of one conversion of values: the number of values, the bytes, the depth. It checks for an interruption
/// every few thousand values.
///
/// A shared value is visited once if the conversion caches it, and counts each time: a few hundred bytes of nested
/// doubled arrays may expand to 2^60 values. So the expanded values may be 64 times the visited ones, plus 65,536 in
/// total.
package struct ConversionBudget {
    /// Maximum depth of arrays and dictionaries from scripts and in items. Deeper values are more likely cycles than
    /// data.
    package static let depthLimit = 128
    package static let valueLimit = 1 << 24
    package static let byteLimit = 1 << 30

    private let maximumValues: Int
    private let maximumBytes: Int
    private var visited = 0
    private var bytes = 0

    /// - Parameters:
    ///   - values: the limit of visited values, and of expanded ones.
    ///   - bytes: the limit of the output in bytes.
    package init(values: Int = ConversionBudget.valueLimit, bytes: Int = ConversionBudget.byteLimit) {
        maximumValues = values
        maximumBytes = bytes
    }

    /// The limit of expanded values for `count` visited ones.
    package static func unfolded(from count: Int, atMost limit: Int) -> Int {
        let (product, overflow) = count.multipliedReportingOverflow(by: 64)
        return min(limit, overflow ? limit : product + (1 << 16))
    }

    /// Counts a visited value and its output bytes.
    package mutating func visit(bytes count: Int = 0) throws(ConversionRefusal) {
        visited += 1
        bytes += count
        if visited > maximumValues || bytes > maximumBytes || visited & 1023 == 0 || count > 1 << 16 {
            try look()
        }
    }

    /// Checks the limit before a large allocation.
    ///
    /// - Parameter count: the allocation's size in bytes.
    /// - Throws: when the limit is exceeded.
    package func reserve(_ count: Int) throws(ConversionRefusal) {
        if count > maximumBytes - bytes { throw .tooManyBytes(limit: maximumBytes) }
    }

    private func look() throws(ConversionRefusal) {
        if visited > maximumValues { throw .tooManyValues(limit: maximumValues) }
        if bytes > maximumBytes { throw .tooManyBytes(limit: maximumBytes) }
        if Interruption.isDue { throw .stopped }
    }

    /// Checks the number of expanded values.
    ///
    /// - Parameter count: the values, shared ones counted each time.
    /// - Throws: when the limit is exceeded.
    package func check(unfolded count: Int) throws(ConversionRefusal) {
        let limit = Self.unfolded(from: visited, atMost: maximumValues)
        if count > limit { throw .unfoldsTooFar(limit: limit) }
    }

    /// A saturating sum of counts.
    package static func sum(_ count: Int, _ other: Int) -> Int {
        let (sum, overflow) = count.addingReportingOverflow(other)
        return overflow ? .max : sum
    }
}
