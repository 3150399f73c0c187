import ColumnEngine
import PredicateFormat
import PropertyList
import SQLite
import TimeZones

/// The functions that statements have beside SQLite's own.
final class SQLFunctions {
    /// The patterns used last, since a statement has few.
    private var patterns: [Key: TextPattern] = [:]

    private struct Key: Hashable {
        let text: ExactText
        let isWhole: Bool
    }

    private static let patternLimit = 64

    /// Adds them to a connection.
    func add(to database: SQLiteDatabase) throws(SQLiteError) {
        try database.addFunction("lower", count: 1, isFixed: true) { try Self.mapped($0[0]) { $0.lowercased() } }
        try database.addFunction("upper", count: 1, isFixed: true) { try Self.mapped($0[0]) { $0.uppercased() } }
        try database.addFunction("unaccent", count: 1, isFixed: true) {
            try Self.mapped($0[0]) { TextFolding.unaccented($0) }
        }
        // The operators give the pattern first.
        try database.addFunction("regexp", count: 2, isFixed: true) { [unowned self] in
            try matches($0[1], $0[0], isWhole: false)
        }
        try database.addFunction("match", count: 2, isFixed: true) { [unowned self] in
            try matches($0[1], $0[0], isWhole: true)
        }
        try database.addFunction("matches", count: 2, isFixed: true) { [unowned self] in
            try matches($0[0], $0[1], isWhole: true)
        }
        try database.addFunction("zone", count: 2, isFixed: true) { [unowned self] in try zone($0[0], $0[1]) }
        try database.addAggregate("median", count: 1) { PercentileAggregate("median") }
        try database.addAggregate("percentile", count: 2) { PercentileAggregate("percentile") }
        try database.addAggregate("stddev", count: 1) { VarianceAggregate("stddev", isRoot: true) }
        try database.addAggregate("variance", count: 1) { VarianceAggregate("variance", isRoot: false) }
    }

    // MARK: Texts

    /// The text of a value, as SQLite makes it; nil for NULL.
    ///
    /// - Throws: `SQLError` for bytes that are not UTF-8, which a database of others may have.
    private static func text(_ cell: SQLiteCell) throws(SQLError) -> String? {
        switch cell {
        case .null: return nil
        case .integer(let number): return "\(number)"
        case .real(let number): return "\(number)"
        case .text(let bytes), .blob(let bytes):
            guard let text = String(validating: bytes, as: UTF8.self) else {
                throw SQLError(.failed, "a function of texts got one that is not UTF-8: cast it to a blob, or use hex")
            }
            return text
        }
    }

    private static func mapped(_ cell: SQLiteCell, _ change: (String) -> String) throws(SQLError) -> SQLiteValue {
        try text(cell).map { .text(Array(change($0).utf8)) } ?? .null
    }

    private func matches(_ text: SQLiteCell, _ pattern: SQLiteCell, isWhole: Bool) throws -> SQLiteValue {
        guard let wanted = try Self.text(pattern) else { return .null }
        let key = Key(text: ExactText(wanted), isWhole: isWhole)
        let compiled: TextPattern
        if let known = patterns[key] {
            compiled = known
        } else {
            do throws(TextPatternError) { compiled = try TextPattern(wanted, isWhole: isWhole) } catch {
                throw SQLError(.failed, error.description)
            }
            if patterns.count >= Self.patternLimit { patterns = [:] }
            patterns[key] = compiled
        }
        let verdict: Bool
        switch text {
        case .null: return .null
        case .text(let bytes), .blob(let bytes): verdict = compiled.matches(bytes)
        default: verdict = Array((try Self.text(text) ?? "").utf8).withUnsafeBufferPointer { compiled.matches($0) }
        }
        // After an interruption a pattern gives up.
        if Interruption.isDueAtStep { throw WorkStopped() }
        return .integer(verdict ? 1 : 0)
    }

    // MARK: Zones

    /// A time in UTC as the local time of a zone.
    private func zone(_ time: SQLiteCell, _ name: SQLiteCell) throws -> SQLiteValue {
        guard let name = try Self.text(name), let text = try Self.text(time) else { return .null }
        let zone: Zone
        do throws(ZoneError) { zone = try Zone.named(name) } catch { throw SQLError(.failed, "\(error)") }
        guard let date = SQLDate.date(text), let (seconds, _) = date.parts else {
            throw SQLError(.failed, "zone takes a time such as 2024-02-29 13:05:00, got \(text.quoted())")
        }
        let offset = Double(zone.offset(at: Int64(seconds)).seconds)
        let local = PropertyListDate(secondsSinceReferenceDate: date.secondsSinceReferenceDate + offset)
        return .text(SQLDate.text(local, isDay: false))
    }
}

/// A number of an aggregate's argument.
private enum AggregateNumber {
    case integer(Int64)
    case real(Double)

    /// Nil for NULL, which is left out.
    ///
    /// - Throws: `SQLError` for a text that is not a number.
    init?(_ cell: SQLiteCell, of function: String) throws(SQLError) {
        switch cell {
        case .null: return nil
        case .integer(let number): self = .integer(number)
        case .real(let number): self = .real(number)
        case .text(let bytes):
            let text = String(decoding: bytes, as: UTF8.self)
            if let number = Int64(text) {
                self = .integer(number)
                return
            }
            // A NaN would have no place among the others.
            guard let number = Double(text), !number.isNaN else {
                throw SQLError(.failed, "\(function) takes numbers, got \(text.quoted())")
            }
            self = .real(number)
        case .blob: throw SQLError(.failed, "\(function) takes numbers, got data")
        }
    }

    var real: Double {
        switch self {
        case .integer(let number): Double(number)
        case .real(let number): number
        }
    }
}

/// The memory of an aggregate that keeps all of its values, counted each time that it has doubled.
private struct AggregateMemory {
    private var checkpoint = 1024
    private let memory = SQLiteMemory()

    /// - Parameters:
    ///   - count: the number of values.
    ///   - size: the bytes of each; twice of them are needed while the memory grows.
    ///   - name: the function.
    /// - Throws: `SQLError` with `limit`, `WorkStopped`.
    mutating func check(_ count: Int, size: Int, of name: String) throws {
        guard count >= checkpoint else { return }
        checkpoint *= 2
        if Interruption.isDue { throw WorkStopped() }
        do throws(SQLiteError) { try memory.hold(count * 2 * size) } catch {
            throw SQLError(
                .limit, "\(name) keeps all values, and they are larger than the memory that the script may use")
        }
    }
}

/// `median(x)`, and `percentile(x, p)` with p from 0 to 100: as those of queries.
final class PercentileAggregate: SQLiteAggregate {
    private let name: String
    private var sample = NumberSample()
    /// The numbers in order, once they are asked for more than once.
    private var moving: MovingSample?
    private var percent: Double?
    private var memory = AggregateMemory()
    private var wasAsked = false
    /// The value as long as the numbers are the same: each row of a partition without an order asks for it.
    private var known: SQLiteValue?

    init(_ name: String) {
        self.name = name
        if name == "median" { percent = 50 }
    }

    func add(_ arguments: SQLiteArguments) throws {
        if name == "percentile" { try setPercent(arguments[1]) }
        guard let number = try AggregateNumber(arguments[0], of: name) else { return }
        known = nil
        if wasAsked { try order() }
        switch (number, moving) {
        case (.integer(let number), nil): sample.add(number)
        case (.real(let number), nil): sample.add(number)
        case (.integer(let number), let moving?): moving.add(number)
        case (.real(let number), let moving?): moving.add(number)
        }
        let size = moving == nil ? MemoryLayout<Double>.size : MovingSample.bytes
        try memory.check(moving?.count ?? sample.count, size: size, of: name)
    }

    private func setPercent(_ cell: SQLiteCell) throws {
        guard let wanted = try AggregateNumber(cell, of: name)?.real, wanted >= 0, wanted <= 100 else {
            throw SQLError(.failed, "percentile takes a number from 0 to 100 as its second argument")
        }
        if let percent, percent != wanted {
            throw SQLError(.failed, "percentile takes one percentage, got \(percent) and \(wanted)")
        }
        percent = wanted
    }

    func remove(_ arguments: SQLiteArguments) throws {
        known = nil
        try order()
        switch try AggregateNumber(arguments[0], of: name) {
        case .integer(let number)?: moving?.remove(number)
        case .real(let number)?: moving?.remove(number)
        case nil: return
        }
    }

    /// Puts the numbers in order, for the next ones that come and go.
    private func order() throws {
        guard moving == nil else { return }
        memory = AggregateMemory()
        try memory.check(sample.count, size: MovingSample.bytes, of: name)
        moving = try MovingSample(sample)
        sample = NumberSample()
    }

    func value() throws -> SQLiteValue {
        if let known { return known }
        let value = try found()
        (known, wasAsked) = (value, true)
        return value
    }

    private func found() throws -> SQLiteValue {
        guard let percent, let value = try moving?.percentile(percent) ?? sample.percentile(percent) else {
            return .null
        }
        // A real whatever the numbers were, so that a quotient of it is not cut; an integer that no real has stays one.
        if case .integer(let number) = value, let real = Double(exactly: number) { return .real(real) }
        return try SQLiteValue(value)
    }
}

/// `variance(x)` and `stddev(x)` of a sample, as those of queries; NULL of less than two values.
final class VarianceAggregate: SQLiteAggregate {
    private let name: String
    private let isRoot: Bool
    private var variance = MovingVariance()
    private var memory = AggregateMemory()
    private var isMoving = false

    init(_ name: String, isRoot: Bool) { (self.name, self.isRoot) = (name, isRoot) }

    func add(_ arguments: SQLiteArguments) throws {
        guard let number = try AggregateNumber(arguments[0], of: name) else { return }
        variance.add(number.real)
        let size = isMoving ? MovingVariance.bytes : MemoryLayout<Double>.size
        try memory.check(variance.count, size: size, of: name)
    }

    func remove(_ arguments: SQLiteArguments) throws {
        guard try AggregateNumber(arguments[0], of: name) != nil else { return }
        if !isMoving {
            (isMoving, memory) = (true, AggregateMemory())
            try memory.check(variance.count, size: MovingVariance.bytes, of: name)
        }
        variance.removeFirst()
    }

    func value() -> SQLiteValue {
        (isRoot ? variance.all.standardDeviation : variance.all.ofSample).map { .real($0) } ?? .null
    }
}
