import ColumnEngine
import ItemArchive

/// How items are read from a file or written to one.
public struct ItemFileOptions {
    /// The file's format.
    public var format: ItemFileFormat
    /// Other names: of a file's columns as fields when it is read, of fields as columns when it is written. A nil leaves
    /// the column out.
    public var names: [String: String?] = [:]
    /// Between the cells of comma-separated values.
    public var delimiter = UInt8(ascii: ",")
    /// Told now and then how much is done, of how much: rows, or bytes of comma-separated values. What it throws ends
    /// the work.
    public var progress: ((_ done: Int, _ total: Int) throws -> Void)?
    /// Refuses names that a host's items can't have as fields.
    public var checkField: ((String) throws -> Void)?

    /// Creates the usual options for a format.
    public init(format: ItemFileFormat) { self.format = format }

    /// The other side's name for a column or field; nil when it is left out.
    func name(for name: String) -> String? {
        if let other = names[name] { return other }
        return name
    }

    /// How many rows go by between two reports.
    static let reportInterval = 1024

    func report(_ done: Int, _ total: Int) throws {
        if done % Self.reportInterval == 0 { try progress?(done, total) }
    }
}
