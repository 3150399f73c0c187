import ArgumentParser
import KeyedArchive
import PropertyList
import SQLite

/// How a date is stored: the point that its number counts from, and in what.
enum Epoch: UInt8, CaseIterable {
    /// Seconds since 2001-01-01T00:00:00Z, as NSDate and property lists have them.
    case cocoa
    /// Seconds since 1970-01-01T00:00:00Z.
    case unix
    /// Milliseconds since 1970-01-01T00:00:00Z.
    case ms
    /// Microseconds since 1601-01-01T00:00:00Z.
    case webkit
    /// A text in ISO 8601, in UTC unless it says otherwise.
    case iso

    var name: String {
        switch self {
        case .cocoa: "cocoa"
        case .unix: "unix"
        case .ms: "ms"
        case .webkit: "webkit"
        case .iso: "iso"
        }
    }

    init?(name: String) {
        guard let found = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = found
    }

    /// Seconds from 1601-01-01 to 1970-01-01.
    private static let webkitOffset = 11_644_473_600

    /// The date of an integer, exact; nil for the epoch of texts.
    func date(_ number: Int64) -> PropertyListDate? {
        switch self {
        case .iso: nil
        case .cocoa: PropertyListDate(secondsSinceReferenceDate: Double(number))
        case .unix: PropertyListDate(secondsSince1970: Int(number), scale: 1)
        case .ms: PropertyListDate(secondsSince1970: Int(number), scale: 1000)
        case .webkit: PropertyListDate(secondsSince1970: Int(number), scale: 1_000_000, from: -Self.webkitOffset)
        }
    }

    /// The date of a real; nil for the epoch of texts, and for parts of a microsecond, which dates of webkit do not have.
    func date(_ number: Double) -> PropertyListDate? {
        switch self {
        case .iso: return nil
        case .cocoa: return PropertyListDate(secondsSinceReferenceDate: number)
        case .unix: return PropertyListDate(secondsSince1970: number)
        case .ms, .webkit:
            if let whole = Int64(exactly: number) { return date(whole) }
            if self == .webkit, number.isFinite, number.rounded() != number { return nil }
            let seconds = self == .ms ? number / 1000 : number / 1_000_000 - Double(Self.webkitOffset)
            return PropertyListDate(secondsSince1970: seconds)
        }
    }
}

extension PropertyListDate {
    /// The date of a whole number of parts of a second.
    ///
    /// - Parameters:
    ///   - count: the number.
    ///   - scale: the parts in a second, a power of ten.
    ///   - start: where the number counts from, in seconds since 1970.
    fileprivate init(secondsSince1970 count: Int, scale: Int, from start: Int = 0) {
        var (seconds, rest) = count.quotientAndRemainder(dividingBy: scale)
        if rest < 0 { (seconds, rest) = (seconds - 1, rest + scale) }
        let (sum, overflow) = seconds.addingReportingOverflow(start)
        // Far beyond the calendar, where a real has no whole seconds.
        guard !overflow, abs(Double(sum)) < 1e18 else {
            self.init(secondsSinceReferenceDate: Double(seconds) + Double(start) - Self.unixEpochOffset)
            return
        }
        self.init(secondsSince1970: sum, fraction: rest == 0 ? "" : String(String(rest + scale).dropFirst()))
    }
}

/// The fields whose numbers, or texts, are dates: `--epoch FIELD=unix`.
///
/// A field is a column, `column` or `table.column`, of a database, where letters of the other case are the same; in
/// archives and property lists a key, or a whole path.
struct EpochFields {
    private(set) var fields: [(name: String, epoch: Epoch)] = []
    /// The fields that something has.
    private var met: Set<Int> = []
    /// The keys that differ from a field in the case of letters alone, by the field.
    private var near: [Int: String] = [:]

    /// - Parameter words: each a field, `=`, and the epoch's name.
    /// - Throws: `ValidationError`.
    init(_ words: [String]) throws {
        for word in words {
            guard let equals = word.lastIndex(of: "="), equals != word.startIndex else {
                throw ValidationError("--epoch takes a field and its epoch, such as created=unix: '\(word)' has no =.")
            }
            let (name, epoch) = (String(word[..<equals]), String(word[word.index(after: equals)...]))
            if let comma = name.firstIndex(of: ","), let inner = name[..<comma].lastIndex(of: "="),
                Epoch(name: String(name[name.index(after: inner)..<comma])) != nil
            {
                throw ValidationError(
                    "--epoch takes one field, and may be repeated: --epoch \(name[..<comma]) --epoch "
                        + "\(name[name.index(after: comma)...])=\(epoch)")
            }
            guard let epoch = Epoch(name: epoch) else {
                let hint = NearestNames.hint(for: epoch, among: Epoch.allCases.map(\.name))
                throw ValidationError(
                    "There is no epoch '\(epoch)'\(hint.isEmpty ? "." : hint) The epochs are unix, cocoa, webkit, ms, and iso for texts."
                )
            }
            if let known = fields.first(where: { $0.name == name }), known.epoch != epoch {
                throw ValidationError("'\(name)' has two epochs, \(known.epoch.name) and \(epoch.name).")
            }
            fields.append((name, epoch))
        }
    }

    /// The epoch of a column's numbers; one for the table's column precedes one for the column of all tables.
    mutating func epoch(ofColumn column: String, of table: String) -> Epoch? {
        let names = ["\(table).\(column)".lowercased(), column.lowercased()]
        for name in names {
            if let index = fields.firstIndex(where: { $0.name.lowercased() == name }) {
                met.insert(index)
                return fields[index].epoch
            }
        }
        return nil
    }

    /// The epoch of a number in an archive or a property list.
    mutating func epoch(ofKey key: String?, at path: () -> String) -> Epoch? {
        guard !fields.isEmpty else { return nil }
        if let key, let index = fields.firstIndex(where: { $0.name == key }) {
            met.insert(index)
            return fields[index].epoch
        }
        if let key, let index = fields.firstIndex(where: { Self.isNear(key, $0.name) }) { near[index] = key }
        guard fields.contains(where: { $0.name.utf8.contains(UInt8(ascii: ".")) || $0.name.hasSuffix("]") }) else {
            return nil
        }
        let path = path()
        guard let index = fields.firstIndex(where: { $0.name == path }) else { return nil }
        met.insert(index)
        return fields[index].epoch
    }

    /// Whether a key is a field but for the case of its letters.
    private static func isNear(_ key: String, _ name: String) -> Bool {
        key.utf8.count == name.utf8.count && key.utf8.count < 256 && key.lowercased() == name.lowercased()
    }

    /// The fields that nothing has, with the key that is one but for the case of its letters.
    var unmet: [(field: String, near: String?)] {
        fields.indices.filter { !met.contains($0) }.map { (fields[$0].name, near[$0]) }
    }
}
