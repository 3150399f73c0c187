import Application
import Files
import PropertyList

/// Where a result comes from: the program, its words, the zone and the time before it; after it the files that were read,
/// those that were passed over, and what could not be read.
///
/// A class, since all parts of a command record in the one that it has.
final class Provenance {
    /// A file whose bytes are in the result.
    struct Source {
        let file: String
        let size: Int
        let digest: String
        let kind: String
    }

    /// A file that was passed over, or something in a file that could not be read.
    struct Omission {
        let file: String
        /// The place in the file; empty for the file itself.
        var path = ""
        let reason: String

        var text: String { path.isEmpty ? "\(file): \(reason)" : "\(file): \(path): \(reason)" }
    }

    /// Whether a report was asked for, which has the digests of files.
    let isWanted: Bool
    private let words: [String]
    private let zone: String
    private let time: PropertyListDate
    private(set) var sources: [Source] = []
    private(set) var passedOver: [Omission] = []
    private(set) var unread: [Omission] = []
    /// What else has to be known.
    private(set) var remarks: [String] = []

    /// - Parameters:
    ///   - isWanted: whether a report was asked for.
    ///   - words: the command line, without the program's name.
    ///   - zone: the zone of the times in the result.
    ///   - time: the machine's.
    init(
        isWanted: Bool, words: [String] = CommandProgram.words, zone: String = "UTC", time: PropertyListDate = .now()
    ) {
        (self.isWanted, self.words, self.zone, self.time) = (isWanted, words, zone, time)
    }

    func record(_ source: Source) { sources.append(source) }

    /// Records the files of a database.
    func record(_ parts: [Source]) { sources += parts }

    func recordPassedOver(_ file: String, _ reason: String) {
        passedOver.append(Omission(file: ArchiveFiles.name(file), reason: reason))
    }

    func recordUnread(_ file: String, _ path: String = "", reason: String) {
        unread.append(Omission(file: ArchiveFiles.name(file), path: path, reason: reason))
    }

    /// Records what could not be read in a file.
    ///
    /// - Throws: the exit status, after a message, if there is something.
    func recordUnread(_ file: String, _ problems: FileProblems) throws {
        for problem in problems.list { recordUnread(file, problem.path, reason: problem.reason) }
        guard let first = problems.first else { return }
        let rest = problems.list.count - 1
        let more = rest > 0 ? ", and \(rest.counted("more place")) that cannot be read" : ""
        throw CommandFailure.exit(.badData, "\(ArchiveFiles.name(file)): \(first)\(more)")
    }

    func recordRemark(_ remark: String) { remarks.append(remark) }

    /// Records the bytes of a file that was read.
    func recordRead(_ file: String, _ bytes: [UInt8], digest: String? = nil, kind: String) {
        guard isWanted else { return }
        let digest = digest ?? SHA256.digest(bytes).hexadecimal
        record(Source(file: ArchiveFiles.name(file), size: bytes.count, digest: digest, kind: kind))
    }

    // MARK: - Text

    /// What stands before the result, by name.
    var entries: [(name: String, text: String)] {
        [
            ("program", ProgramVersion.text),
            ("command", (["cubby"] + words.map(OptionWords.argument)).joined(separator: " ")),
            ("zone", zone), ("time", time.exchangeText),
        ]
    }

    /// The lines before the result: the program's own first.
    var head: [String] {
        entries.enumerated().map { $0 == 0 ? $1.text : "\($1.name): \($1.text)" } + [""]
    }

    /// The lines after the result.
    var foot: [String] {
        var lines = ["", "read: \(sources.count.counted("file"))"]
        lines += sources.map { "  \($0.digest)  \($0.size.counted("byte"))  \($0.kind)  \($0.file)" }
        lines.append("passed over: \(passedOver.count.counted("file"))")
        lines += passedOver.map { "  \($0.text)" }
        lines.append("not read: \(unread.isEmpty ? "nothing" : "\(unread.count.counted("place"))")")
        lines += unread.map { "  \($0.text)" }
        lines += remarks.map { "note: \($0)" }
        return lines
    }

    /// Writes lines to standard output, or to standard error beside a result that must stand alone.
    static func write(_ lines: [String], toError: Bool) {
        let text = lines.map { VisibleText.line($0) + "\n" }.joined()
        if toError { StandardErrorLogHandler.writeToStandardError(text) } else { StandardStream.output.put(text) }
    }

    // MARK: - JSON

    /// A line of JSON before the result.
    var headLine: [UInt8] { Self.line(entries.map { ($0.name, JSONText.quoted($0.text)) }) }

    /// A line of JSON after the result.
    var footLine: [UInt8] {
        func listed(_ omissions: [Omission]) -> String {
            Self.array(
                omissions.map { omission in
                    let fields = [("file", omission.file), ("path", omission.path), ("reason", omission.reason)]
                    return Self.object(fields.filter { !$1.isEmpty }.map { ($0, JSONText.quoted($1)) })
                })
        }
        let read = sources.map { source in
            Self.object([
                ("file", JSONText.quoted(source.file)), ("size", "\(source.size)"),
                ("sha256", JSONText.quoted(source.digest)), ("kind", JSONText.quoted(source.kind)),
            ])
        }
        let said = remarks.isEmpty ? [] : [("notes", Self.array(remarks.map(JSONText.quoted)))]
        return Self.line(
            [("read", Self.array(read)), ("passedOver", listed(passedOver)), ("unread", listed(unread))] + said)
    }

    private static func line(_ fields: [(String, String)]) -> [UInt8] {
        Array((object([("report", object(fields))]) + "\n").utf8)
    }

    private static func object(_ fields: [(String, String)]) -> String {
        "{\(fields.map { "\(JSONText.quoted($0)):\($1)" }.joined(separator: ","))}"
    }

    private static func array(_ elements: [String]) -> String { "[\(elements.joined(separator: ","))]" }

    // MARK: - HTML

    /// The part of a page before the result.
    var headHTML: String {
        let rows = entries.map { "<dt>\($0.name)</dt><dd>\(HTMLText.escaped($0.text))</dd>\n" }
        return "<dl>\n\(rows.joined())</dl>\n"
    }

    /// The part of a page after the result.
    var footHTML: String {
        var text = "<h2>Read: \(sources.count.counted("file"))</h2>\n"
        if !sources.isEmpty {
            text +=
                "<table>\n<thead><tr><th>file</th><th>bytes</th><th>kind</th><th>SHA-256</th></tr></thead>\n<tbody>\n"
            for source in sources {
                text +=
                    "<tr><td>\(HTMLText.escaped(source.file))</td><td>\(source.size)</td>"
                    + "<td>\(HTMLText.escaped(source.kind))</td><td class=\"digest\">\(source.digest)</td></tr>\n"
            }
            text += "</tbody>\n</table>\n"
        }
        for (title, omissions) in [("Passed over", passedOver), ("Not read", unread)] {
            text += "<h2>\(title): \(omissions.count)</h2>\n"
            guard !omissions.isEmpty else { continue }
            text += "<ul>\n\(omissions.map { "<li>\(HTMLText.escaped($0.text))</li>\n" }.joined())</ul>\n"
        }
        if !remarks.isEmpty {
            text += "<h2>Notes</h2>\n<ul>\n\(remarks.map { "<li>\(HTMLText.escaped($0))</li>\n" }.joined())</ul>\n"
        }
        return text
    }
}
