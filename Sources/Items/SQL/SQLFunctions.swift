import CPlatform
import PredicateFormat
import PropertyList
import SQLite
import TimeZones

/// The functions that statements have beside SQLite's own.
final class SQLFunctions {
    /// Their names, with those of SQLite's that are replaced.
    static let names = [
        "lower", "match", "matches", "median", "percentile", "regexp", "stddev", "unaccent", "upper", "variance",
        "zone",
    ]

    private let zones = ZoneDatabase(variable: nil)
    /// The patterns used last, since a statement has few.
    private var patterns: [Key: TextPattern] = [:]

    private struct Key: Hashable {
        let text: String
        let isWhole: Bool
    }

    private static let patternLimit = 64

    /// Adds them to a connection.
    func add(to database: SQLiteDatabase) throws(SQLiteError) {
        try database.addFunction("lower", count: 1, isFixed: true) { Self.mapped($0[0]) { $0.lowercased() } }
        try database.addFunction("upper", count: 1, isFixed: true) { Self.mapped($0[0]) { $0.uppercased() } }
        try database.addFunction("unaccent", count: 1, isFixed: true) {
            Self.mapped($0[0]) { TextFolding.unaccented($0) }
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
    private static func text(_ cell: SQLiteCell) -> String? {
        switch cell {
        case .null: nil
        case .integer(let number): "\(number)"
        case .real(let number): "\(number)"
        case .text(let bytes), .blob(let bytes): String(decoding: bytes, as: UTF8.self)
        }
    }

    private static func mapped(_ cell: SQLiteCell, _ change: (String) -> String) -> SQLiteValue {
        text(cell).map { .text(Array(change($0).utf8)) } ?? .null
    }

    private func matches(_ text: SQLiteCell, _ pattern: SQLiteCell, isWhole: Bool) throws -> SQLiteValue {
        guard let wanted = Self.text(pattern) else { return .null }
        let key = Key(text: wanted, isWhole: isWhole)
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
        default: verdict = Array((Self.text(text) ?? "").utf8).withUnsafeBufferPointer { compiled.matches($0) }
        }
        // After an interruption a pattern gives up.
        if Interruption.isDueAtStep { throw WorkStopped() }
        return .integer(verdict ? 1 : 0)
    }

    // MARK: Zones

    /// A time in UTC as the local time of a zone.
    private func zone(_ time: SQLiteCell, _ name: SQLiteCell) throws -> SQLiteValue {
        guard let name = Self.text(name), let text = Self.text(time) else { return .null }
        let zone: Zone
        do throws(ZoneError) { zone = try zones.zone(named: name) } catch { throw SQLError(.failed, "\(error)") }
        guard let date = SQLDate.date(text), let (seconds, _) = date.parts else {
            throw SQLError(.failed, "zone takes a time such as 2024-02-29 13:05:00, got \(text.quoted())")
        }
        let offset = Double(zone.offset(at: Int64(seconds)).seconds)
        let local = PropertyListDate(secondsSinceReferenceDate: date.secondsSinceReferenceDate + offset)
        return .text(SQLDate.text(local, isDay: false))
    }
}

/// Numbers that aggregate functions take: NULL is left out, and a text that is no number is an error.
private func number(_ cell: SQLiteCell, _ function: String) throws -> Double? {
    switch cell {
    case .null: return nil
    case .integer(let number): return Double(number)
    case .real(let number): return number
    case .text(let bytes):
        let text = String(decoding: bytes, as: UTF8.self)
        guard let number = Double(text) else {
            throw SQLError(.failed, "\(function) takes numbers, got \(text.quoted())")
        }
        return number
    case .blob: throw SQLError(.failed, "\(function) takes numbers, got data")
    }
}

/// `median(x)`, and `percentile(x, p)` with p from 0 to 100: between two values, in proportion.
private final class PercentileAggregate: SQLiteAggregate {
    private let name: String
    private var values: [Double] = []
    private var percent: Double?

    init(_ name: String) {
        self.name = name
        if name == "median" { percent = 50 }
    }

    func add(_ arguments: SQLiteArguments) throws {
        if name == "percentile" {
            guard let wanted = try number(arguments[1], name), wanted >= 0, wanted <= 100 else {
                throw SQLError(.failed, "percentile takes a number from 0 to 100 as its second argument")
            }
            if let percent, percent != wanted {
                throw SQLError(.failed, "percentile takes one percentage, got \(percent) and \(wanted)")
            }
            percent = wanted
        }
        guard let value = try number(arguments[0], name), !value.isNaN else { return }
        if values.count == values.capacity {
            if Interruption.isDue { throw WorkStopped() }
            guard Int64(values.count) * 16 <= cubby_work_capacity() else {
                throw SQLError(
                    .limit, "\(name) keeps all values, and they are larger than the memory that the script may use")
            }
        }
        values.append(value)
    }

    func result() -> SQLiteValue {
        guard !values.isEmpty, let percent else { return .null }
        values.sort()
        let place = percent / 100 * Double(values.count - 1)
        let lower = Int(place.rounded(.down))
        let (low, high) = (values[lower], values[min(lower + 1, values.count - 1)])
        return .real(low == high ? low : low + (high - low) * (place - Double(lower)))
    }
}

/// `variance(x)` and `stddev(x)` of a sample, by Welford's method; NULL of less than two values.
private final class VarianceAggregate: SQLiteAggregate {
    private let name: String
    private let isRoot: Bool
    private var count = 0.0
    private var mean = 0.0
    private var sum = 0.0

    init(_ name: String, isRoot: Bool) { (self.name, self.isRoot) = (name, isRoot) }

    func add(_ arguments: SQLiteArguments) throws {
        guard let value = try number(arguments[0], name) else { return }
        count += 1
        let distance = value - mean
        mean += distance / count
        sum += distance * (value - mean)
    }

    func result() -> SQLiteValue {
        if count < 2 { return .null }
        let variance = sum / (count - 1)
        return .real(isRoot ? variance.squareRoot() : variance)
    }
}
