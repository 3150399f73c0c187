import CPlatform

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
    package mutating func visit(bytes count: Int = 0) throws(ConversionError) {
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
    package func reserve(_ count: Int) throws(ConversionError) {
        if count > maximumBytes - bytes { throw .tooManyBytes(limit: maximumBytes) }
    }

    private func look() throws(ConversionError) {
        if visited > maximumValues { throw .tooManyValues(limit: maximumValues) }
        if bytes > maximumBytes { throw .tooManyBytes(limit: maximumBytes) }
        if Interruption.isDue { throw .stopped }
    }

    /// Checks the number of expanded values.
    ///
    /// - Parameter count: the values, shared ones counted each time.
    /// - Throws: when the limit is exceeded.
    package func check(unfolded count: Int) throws(ConversionError) {
        let limit = Self.unfolded(from: visited, atMost: maximumValues)
        if count > limit { throw .unfoldsTooFar(limit: limit) }
    }

    /// A saturating sum of counts.
    package static func sum(_ count: Int, _ other: Int) -> Int {
        let (sum, overflow) = count.addingReportingOverflow(other)
        return overflow ? .max : sum
    }
}

/// The reason of a failed conversion.
package enum ConversionError: Error, Hashable, Sendable {
    case tooManyValues(limit: Int)
    case unfoldsTooFar(limit: Int)
    case tooManyBytes(limit: Int)
    /// An interruption by the deadline or a person. The script ends even if this error is handled.
    case stopped

    package var message: String {
        switch self {
        case .tooManyValues(let limit): "there are more than \(limit.grouped) values: convert them in parts"
        case .unfoldsTooFar(let limit):
            "the value unfolds to more than \(limit.grouped) values: the same array or dictionary is held many times, "
                + "and counts each time"
        case .tooManyBytes(let limit): "the result has more than \(limit.grouped) bytes: convert it in parts"
        case .stopped: Interruption.message
        }
    }
}

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
        if let excess = limits.excess(atDepth: level - 1) {
            throw .unwritable("containers nest \(excess), or hold themselves")
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

/// Bounds decoding by the size of the input: the objects of a valid file do not overlap, so together they have no more
/// bytes than the file. A table with many references to the same bytes exceeds that.
package struct DecodingBudget {
    private let reader: BinaryPropertyListReader
    private var left: Int

    /// - Parameters:
    ///   - reader: the property list.
    ///   - factor: the number of times an object may be decoded.
    package init(_ reader: BinaryPropertyListReader, factor: Int = 1) {
        self.reader = reader
        left = reader.storage.bytes.count.multipliedReportingOverflow(by: factor).partialValue
    }

    /// Subtracts the bytes of an object about to be decoded. O(1).
    ///
    /// - Throws: `readCorrupt` when the objects so far exceed the file.
    package mutating func spend(_ number: Int) throws(PropertyListError) {
        let bytes = try reader.payloadBytes(of: number)
        // Small objects are free.
        if bytes > 15 { left -= bytes }
        guard left >= 0 else {
            throw .corrupt(
                "the objects overlap: together they have more bytes than the file", at: try reader.offset(of: number))
        }
    }
}

extension BinaryPropertyListReader {
    /// The payload bytes of a string, data or container; 0 for other objects, which are small.
    func payloadBytes(of number: Int) throws(PropertyListError) -> Int {
        let offset = try offset(of: number)
        guard let unit = unit(ofObjectAt: offset) else { return 0 }
        return try payload(at: offset, unit: unit).count * unit
    }

    /// The size of an object in bytes, with its marker and its count.
    func size(ofObjectAt offset: Int) throws(PropertyListError) -> Int {
        if let unit = unit(ofObjectAt: offset) {
            let (count, start) = try payload(at: offset, unit: unit)
            return start - offset + count * unit
        }
        let low = Int(marker(at: offset) & 0x0F)
        switch marker(at: offset) & 0xF0 {
        case 0x00: return 1
        case 0x80: return 2 + low
        default: return 1 + 1 << low
        }
    }

    /// The size of what the count of a string, data or container counts, in bytes; nil for other objects.
    private func unit(ofObjectAt offset: Int) -> Int? {
        switch marker(at: offset) & 0xF0 {
        case 0x40, 0x50: 1
        case 0x60: 2
        case 0xA0, 0xC0: referenceSize
        case 0xD0: referenceSize * 2
        default: nil
        }
    }
}

/// Whether the current thread's work is interrupted, by a deadline or a person.
///
/// Code whose time is proportional to its input checks this every few thousand steps, or once per megabyte, and fails
/// with its own error. The host that runs scripts registers the check (`cubby_watch_work`) and ends the script even if
/// that error is handled. Threads without a registered check are never interrupted.
package enum Interruption {
    /// Takes a few nanoseconds without a registered check, some tens with one.
    package static var isDue: Bool { cubby_work_is_stopped() != 0 }

    /// Counts a step of work in small parts, such as loops within loops. Whether the work is interrupted is looked at in
    /// each 1,024th step of the thread; after an interruption each step is true, so that all loops end.
    package static var isDueAtStep: Bool { cubby_work_is_stopped_at_step() != 0 }

    /// The message of an error after an interruption.
    package static let message = "stopped before its end"
}

/// Checks for an interruption once in 1,024 steps.
package struct InterruptionPace {
    private var steps: UInt32 = 0

    package init() {}

    /// Whether the work is interrupted, checked at each 1,024th call.
    package mutating func isDue() -> Bool {
        steps &+= 1
        return steps & 1023 == 0 && Interruption.isDue
    }
}

/// The error of interrupted work.
package struct WorkStopped: Error, CustomStringConvertible {
    package init() {}

    package var description: String { Interruption.message }
}
