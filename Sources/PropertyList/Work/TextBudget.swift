/// Bounds the text of a property list. Shared containers and long strings are written each time, so that a small table
/// could fill any disk.
struct TextBudget {
    private let limits: PropertyListLimits
    private let maximumValues: Int
    private let maximumBytes: Int
    private var values = 0
    private var pace = InterruptionPace()

    init(_ reader: BinaryPropertyListReader) {
        limits = reader.limits
        maximumValues = limits.maximumValues(ofObjects: reader.objectCount)
        maximumBytes = (16 << 20) + 64 * reader.storage.bytes.count
    }

    /// Counts the next value.
    ///
    /// - Parameters:
    ///   - level: the value's depth.
    ///   - bytes: the size of the text so far.
    /// - Throws: `writeInvalid` beyond a limit, and after an interruption.
    mutating func spend(level: Int, bytes: Int) throws(PropertyListError) {
        if let refusal = limits.refusal(atDepth: level - 1) {
            throw .unwritable("containers nest \(refusal), or hold themselves")
        }
        values += 1
        if pace.isDue() { throw .unwritable(Interruption.message) }
        guard bytes <= maximumBytes else {
            throw .unwritable("the property list unfolds to more than \(maximumBytes) bytes")
        }
        guard values <= maximumValues else {
            throw .unwritable("the property list unfolds to more than \(maximumValues) values")
        }
    }
}
