/// What one conversion of values may take, of whatever kind they are and whatever they become: how many values, how many
/// bytes, how deep. Every few thousand values it asks whether the work has to stop.
///
/// What is held in many places is visited once where the conversion can remember it, and counts there each time: a few
/// hundred bytes may hold an array that holds the one before twice, and so on, and stand for 2^60 values. So a value may
/// unfold to 64 times the values that were visited, but for 65,536 in all.
package struct ConversionBudget {
    /// How deep arrays and dictionaries may nest in what scripts give and items hold: beyond it, a cycle is more likely
    /// than data.
    package static let depthLimit = 128
    package static let valueLimit = 1 << 24
    package static let byteLimit = 1 << 30

    private let maximumValues: Int
    private let maximumBytes: Int
    private var visited = 0
    private var bytes = 0

    /// - Parameters:
    ///   - values: how many values may be visited, and what they may unfold to.
    ///   - bytes: how many bytes what is made of them may have.
    package init(values: Int = ConversionBudget.valueLimit, bytes: Int = ConversionBudget.byteLimit) {
        maximumValues = values
        maximumBytes = bytes
    }

    /// What so many values may unfold to.
    package static func unfolded(from count: Int, atMost limit: Int) -> Int {
        let (product, overflow) = count.multipliedReportingOverflow(by: 64)
        return min(limit, overflow ? limit : product + (1 << 16))
    }

    /// Counts a value that is looked at, and the bytes that it adds.
    @inline(__always)
    package mutating func visit(bytes count: Int = 0) throws(ConversionRefusal) {
        visited += 1
        bytes += count
        if visited > maximumValues || bytes > maximumBytes || visited & 1023 == 0 || count > 1 << 16 {
            try look()
        }
    }

    /// Asks for room before something large is made.
    ///
    /// - Parameter count: its bytes.
    /// - Throws: when there is none.
    package func reserve(_ count: Int) throws(ConversionRefusal) {
        if count > maximumBytes - bytes { throw .tooManyBytes(limit: maximumBytes) }
    }

    private func look() throws(ConversionRefusal) {
        if visited > maximumValues { throw .tooManyValues(limit: maximumValues) }
        if bytes > maximumBytes { throw .tooManyBytes(limit: maximumBytes) }
        if Interruption.isDue { throw .stopped }
    }

    /// Checks what the values that were visited stand for, together.
    ///
    /// - Parameter count: the values, those that are held in several places counted each time.
    /// - Throws: when they are too many.
    package func check(unfolded count: Int) throws(ConversionRefusal) {
        let limit = Self.unfolded(from: visited, atMost: maximumValues)
        if count > limit { throw .unfoldsTooFar(limit: limit) }
    }

    /// A sum of counts of values that does not overflow.
    @inline(__always)
    package static func sum(_ count: Int, _ other: Int) -> Int {
        let (sum, overflow) = count.addingReportingOverflow(other)
        return overflow ? .max : sum
    }
}
