import ColumnEngine
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
