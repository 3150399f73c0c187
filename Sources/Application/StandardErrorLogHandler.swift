import CPlatform
import Files
import Glibc
package import Logging
import PropertyList

/// Writes log messages to standard error: bare lines on a terminal, in NSLog's form elsewhere.
///
/// NSLog's form is `2014-07-11 17:08:30.634 Homepwner[5965:60b] Received memory warning.`: local time, process, process
/// id and the thread's id in hexadecimal digits. Each message is one write, so that lines of two threads do not mix.
/// Control characters are escaped, and a message's lines after the first are indented. Of a message beyond a megabyte
/// the line has the beginning, and says how many bytes are left out.
/// Bootstrap it with `LoggingSystem.bootstrap { StandardErrorLogHandler(label: $0) }`.
package struct StandardErrorLogHandler: LogHandler {
    /// Writes a complete line with its newline.
    package typealias Sink = @Sendable (String) -> Void

    /// The format of a message.
    package enum Form: Sendable, Hashable {
        /// The message alone.
        case bare
        /// The format of NSLog.
        case nsLog
        /// One JSON object for each line: time, level, process, pid, message, and the message's fields.
        case json
        /// For systemd's journal: the priority in angle brackets, and the message.
        case journal

        /// Whether programs read the lines: errors are then log lines, too, rather than text for a user.
        package var isForPrograms: Bool { self == .json || self == .journal }
    }

    package var logLevel: Logger.Level
    package var metadata: Logger.Metadata = [:]
    package var metadataProvider: Logger.MetadataProvider?

    private let form: Form
    private let processName: String
    /// The run that the lines are of; nil to leave it out.
    private let run: String?
    private let sink: Sink

    /// - Parameters:
    ///   - label: the logger's label; it is not written.
    ///   - level: messages below it are dropped.
    ///   - form: if nil, bare when standard error is a terminal.
    ///   - processName: the name in NSLog's form.
    ///   - run: the run's identifier, for lines that are kept with those of other runs.
    ///   - sink: writes lines; standard error if not given. A line editor substitutes its own, which redraws the line
    ///     below.
    package init(
        label: String, level: Logger.Level = .info, form: Form? = nil, processName: String = ProcessName.current,
        run: String? = nil, sink: @escaping Sink = Self.writeToStandardError
    ) {
        logLevel = level
        self.form = form ?? Self.fittingForm
        self.processName = processName
        self.run = run
        self.sink = sink
    }

    /// The usual form for standard error: bare on a terminal, priorities for the journal, else NSLog's.
    package static var fittingForm: Form {
        if StandardStream.error.isTerminal { return .bare }
        var raw = stat()
        guard let journal = ProcessEnvironment.value("JOURNAL_STREAM"), fstat(StandardDescriptor.error, &raw) == 0
        else {
            return .nsLog
        }
        return journal == "\(raw.st_dev):\(raw.st_ino)" ? .journal : .nsLog
    }

    /// Whether the lines of several runs are kept together: in the journal, in a file, or where programs read them.
    package static func isRetained(_ form: Form) -> Bool {
        if form.isForPrograms { return true }
        var raw = stat()
        return form == .nsLog && fstat(StandardDescriptor.error, &raw) == 0 && raw.st_mode & S_IFMT == S_IFREG
    }

    package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    package func log(event: LogEvent) {
        var all = metadata
        if let provided = metadataProvider?.get() { all.merge(provided) { _, new in new } }
        if let eventMetadata = event.metadata { all.merge(eventMetadata) { _, new in new } }
        let fields = all.sorted { $0.key < $1.key }.map { ($0.key, "\($0.value)".shortened(to: Self.maximumBytes)) }
        let message = "\(event.message)".shortened(to: Self.maximumBytes)
        if form == .json {
            let line = JSONLine.text(event.level, message, fields, processName: processName, run: run)
            return sink(VisibleText.escaped(line, as: .json) + "\n")
        }
        var head = ""
        if form == .nsLog {
            head = "\(LocalTime.logText(.now())) \(processName)[\(getpid()):\(String(cubby_thread_id(), radix: 16))] "
        }
        if form == .journal { head = "<\(Self.priority(event.level))>" }
        if let run, form != .bare { head += "[\(run)] " }
        var text = message
        for (key, value) in fields { text += " \(key)=\(value)" }
        // Lines after the first are indented, so that data never looks like a log line of its own.
        let lines = VisibleText.escaped(text).split(separator: "\n", omittingEmptySubsequences: false)
        let shown = head + lines.joined(separator: "\n" + (form == .journal ? head : "") + "\t")
        sink((form == .bare ? Self.wrapped(shown) : shown) + "\n")
    }

    private static let maximumBytes = 1 << 20

    /// The syslog priority of a level.
    private static func priority(_ level: Logger.Level) -> Int {
        switch level {
        case .trace, .debug: 7
        case .info: 6
        case .notice: 5
        case .warning: 4
        case .error: 3
        case .critical: 2
        }
    }

    /// The text wrapped at words, where standard error is a terminal; the same text elsewhere.
    package static func wrapped(_ text: String) -> String {
        var (columns, rows, width, height): (UInt16, UInt16, UInt16, UInt16) = (0, 0, 0, 0)
        guard cubby_tty_size(StandardDescriptor.error, &columns, &rows, &width, &height) == 0 else { return text }
        return WrappedText.wrapped(text, to: Int(columns))
    }

    /// Writes text to standard error with control characters escaped; what is lost is counted.
    ///
    /// - Parameter text: the text with its newline.
    package static func writeToStandardError(_ text: String) { StandardStream.error.put(VisibleText.escaped(text)) }
}

/// Short names of runs, which tell the lines of one from those of others.
package enum RunIdentifier {
    /// A new one: six characters of 32, so that two among a thousand runs are unlikely to be the same.
    package static func make() -> String {
        let digits = Array("0123456789abcdefghjkmnpqrstvwxyz")
        return String((0..<6).map { _ in digits[Int.random(in: digits.indices)] })
    }
}

/// A log message as one line of JSON.
enum JSONLine {
    static func text(
        _ level: Logger.Level, _ message: String, _ fields: [(String, String)], processName: String,
        run: String? = nil
    ) -> String {
        var line = "{\"time\":\(JSONText.quoted(LocalTime.isoText(.now())))"
        line += ",\"level\":\(JSONText.quoted(level.rawValue))"
        line +=
            ",\"process\":\(JSONText.quoted(processName)),\"pid\":\(getpid())"
        if let run { line += ",\"run\":\(JSONText.quoted(run))" }
        line += ",\"message\":\(JSONText.quoted(message))"
        for (key, value) in fields { line += ",\(JSONText.quoted(key)):\(JSONText.quoted(value))" }
        return line + "}"
    }
}

#if !Cubby
#error("the product Cubby needs this package's trait of that name, which is on unless .package(…, traits: …) omits it")
#endif
