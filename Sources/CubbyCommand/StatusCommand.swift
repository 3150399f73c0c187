import Application
import ArgumentParser
import Files
import Glibc
import LineEditor
import PropertyList
import REPL

/// `cubby status`: what the host of a container does, or what the files of one without a host tell. Changes nothing.
struct StatusCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", _superCommandName: MainCommand.name,
        abstract: "Show whether a container's host runs, and its saves, handlers, timers, tasks and errors.")

    @Option(help: .container, completion: .container)
    var container: String?

    @Argument(
        help: ArgumentHelp("The container, instead of --container.", valueName: "container"), completion: .container)
    var place: String?

    @Flag(help: "Write a JSON object.")
    var json = false

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Seconds to wait for a host that is busy (default: 2).", valueName: "s"))
    var timeout: Double?

    func validate() throws {
        if let timeout, !(timeout > 0 && timeout <= 86400) {
            throw ValidationError("--timeout takes seconds above 0, at most 86400.")
        }
        if container != nil, place != nil {
            throw ValidationError("A container is given as an argument or by --container, not both.")
        }
    }

    func run() throws {
        SignalMask.restore()
        let container = try ContainerArgument.locate(
            place ?? container,
            orSay: "is a new container for each run: ask one that runs by its folder, which app.container tells")
        let fields = try ContainerStatus(container, patience: timeout ?? 2).fields
        if json {
            let bytes = (try? PropertyListValue.fields(fields).json(isPretty: true)) ?? []
            return StandardStream.output.put(String(decoding: bytes, as: UTF8.self) + "\n")
        }
        let columns = TerminalSize(descriptor: StandardDescriptor.output)?.columns ?? .max
        for line in StatusText(fields, of: container, columns: columns).lines { Report.line(line) }
    }
}

/// What is known of a container: by its host, by its lock and by its files.
struct ContainerStatus {
    private(set) var fields: PropertyListFields

    /// - Parameters:
    ///   - container: the container.
    ///   - patience: seconds to wait for its host.
    /// - Throws: the exit status, if there is no container, or it cannot be read.
    init(_ container: ApplicationContainer, patience: Double) throws {
        fields = ["container": .string(container.path)]
        guard PosixFileLayer().exists(container.path) else {
            throw CommandFailure.exit(.inputOutput, "there is no container at \(container.displayPath)")
        }
        let layer: BeneathFileLayer
        do throws(FileError) {
            layer = try container.openExisting()
            try readFiles(of: container, layer)
        } catch { throw CommandFailure.exit(error) }
        guard PosixFileLayer().exists(container.documents) || PosixFileLayer().exists(container.library) else {
            throw CommandFailure.exit(.inputOutput, "there is no container at \(container.displayPath)")
        }
        guard let holder = FolderLock.holder(of: container.path) else {
            fields["running"] = .boolean(false)
            // An orderly end empties the file.
            let lock = (try? layer.status(container.lockFile)) ?? nil
            if let lock { fields["endedInOrder"] = .boolean(lock.size == 0) }
            return
        }
        fields["running"] = .boolean(true)
        fields["process"] = .fields([
            "pid": .integer(Int64(holder.processIdentifier)), "name": .string(holder.processName),
            "since": .string(Self.text(atNanoseconds: holder.since &* 1_000_000_000)),
        ])
        fields["suspended"] = .boolean(holder.isSuspended)
        fields["answers"] = .boolean(false)
        fields["busy"] = .boolean(false)
        if !holder.isSuspended { try ask(container, patience) }
    }

    /// Asks the host; its answer takes precedence over what the files tell.
    private mutating func ask(_ container: ApplicationContainer, _ patience: Double) throws {
        let answer: StatusQuestion.Answer
        do throws(FileError) {
            guard let descriptor = try Self.connect(to: container, patience) else {
                return fields["busy"] = .boolean(true)
            }
            let key: AccessKey
            do throws(FileError) { key = try AccessKey.ofUser(in: ConfigurationFolder.locate()) } catch {
                close(descriptor)
                throw error
            }
            answer = try StatusQuestion.ask(descriptor, key: key, patience: patience)
        } catch {
            return fields["reason"] = .string(
                [ENOENT, ECONNREFUSED].contains(error.code) ? "the host takes no questions" : error.message)
        }
        switch answer {
        case .silence: fields["busy"] = .boolean(true)
        case .denied(let reason): fields["reason"] = .string(reason)
        case .end: fields["reason"] = .string("the host closed the connection")
        case .status(let bytes):
            guard let report = (try? PropertyListValue(json: bytes))?.fields else {
                return fields["reason"] = .string("the host's answer is not JSON")
            }
            fields["answers"] = .boolean(true)
            for (name, value) in report.sortedByName where fields[name] == nil || Self.isOfFiles(name) {
                fields[name] = value
            }
        }
    }

    private static func isOfFiles(_ name: String) -> Bool { name == "lastSave" || name == "lastCommit" }

    /// - Returns: nil if the host, which is busy, accepts no connection in time.
    private static func connect(to container: ApplicationContainer, _ patience: Double) throws(FileError) -> Int32? {
        let end = MonotonicTime.now().advanced(by: patience)
        while true {
            do throws(FileError) { return try ContainerSocket.connect(to: container) } catch {
                guard error.code == EAGAIN else { throw error }
                if end <= .now() { return nil }
                usleep(20_000)
            }
        }
    }

    // MARK: Files

    /// The times of the archive and of the journal, which has a record for each commit.
    private mutating func readFiles(of container: ApplicationContainer, _ layer: BeneathFileLayer) throws(FileError) {
        guard let archive = try layer.status(PathText.join(container.documents, "items.archive")) else {
            return readJournal(of: container, layer, after: 0)
        }
        fields["lastSave"] = .fields(["time": .string(Self.text(atNanoseconds: archive.modified))])
        readJournal(of: container, layer, after: archive.modified)
    }

    private mutating func readJournal(of container: ApplicationContainer, _ layer: BeneathFileLayer, after saved: Int64)
    {
        let journal = (try? layer.status(PathText.join(container.documents, "items.journal"))) ?? nil
        let time = max(saved, journal?.modified ?? 0)
        if time > 0 { fields["lastCommit"] = .fields(["time": .string(Self.text(atNanoseconds: time))]) }
    }

    private static func text(atNanoseconds time: Int64) -> String {
        let limited = max(time, 0)
        return LocalTime.isoText(
            timespec(tv_sec: time_t(limited / 1_000_000_000), tv_nsec: Int(limited % 1_000_000_000)))
    }
}

/// The fields of a status as lines for a reader.
struct StatusText {
    private let status: JSONValue
    private let columns: Int
    private let path: String

    init(_ fields: PropertyListFields, of container: ApplicationContainer, columns: Int) {
        (status, self.columns, path) = (.fields(fields), columns, container.displayPath)
    }

    var lines: [String] {
        var pairs = [("container", path), ("running", running)]
        if let state = status["state"]?.text { pairs.append(("state", state)) }
        if let run = status["run"]?.text { pairs.append(("run", run)) }
        if let items = status["items"]?.number {
            pairs.append(("items", "\(items)\(flag("hasChanges") ? ", changed since the last save" : "")"))
        }
        if let save = status["lastSave"] { pairs.append(("last save", Self.saved(save))) }
        if let time = status["lastCommit"]?["time"]?.text { pairs.append(("last commit", time)) }
        if let failures = status["failures"]?.number, failures > 0 { pairs.append(("failures", "\(failures)")) }
        let tasks = array("backgroundTasks").map { "\(Self.text($0, "name")) (\(Self.seconds($0, "seconds")))" }
        if !tasks.isEmpty { pairs.append(("background tasks", tasks.joined(separator: ", "))) }
        var lines = pairs.alignedLines
        for part in [hooks, timers, watches, errors] where !part.isEmpty { lines += [""] + part }
        for (name, count) in status["leftOut"]?.fields?.sortedByName ?? [] {
            if let count = count.number { lines.append("\(count) more of \(name) are left out") }
        }
        return lines
    }

    private var running: String {
        guard flag("running"), let process = status["process"] else {
            return flag("endedInOrder") || status["endedInOrder"] == nil
                ? "no" : "no; the last process did not end in order"
        }
        let who =
            "\(process["name"]?.text ?? "cubby"), process \(Self.count(process, "pid")), since \(process["since"]?.text ?? "?")"
        if flag("suspended") { return "suspended: \(who)" }
        if flag("busy") { return "busy, and does not answer: \(who)" }
        return "yes: \(who)" + (status["reason"]?.text.map { "; it does not answer: \($0)" } ?? "")
    }

    private static func saved(_ save: JSONValue) -> String {
        let time = save["time"]?.text ?? "?"
        if save["ok"]?.flag == false { return "\(time), failed: \(text(save, "error"))" }
        return save["items"]?.number.map { "\(time), \($0.counted("item"))" } ?? time
    }

    private var hooks: [String] {
        let hooks = array("hooks")
        guard !hooks.isEmpty else { return [] }
        var table = TextTable(columns: columns)
        table.add(.init(title: "event", cells: hooks.map { Self.text($0, "event") }))
        table.add(.init(title: "handler", cells: hooks.map { TextTable.cut(Self.text($0, "title"), to: 40) }))
        table.add(.init(title: "calls", cells: hooks.map { Self.count($0, "calls") }, isNumber: true))
        table.add(.init(title: "errors", cells: hooks.map { Self.count($0, "failures") }, isNumber: true))
        table.add(.init(title: "total", cells: hooks.map { Self.seconds($0, "seconds") }, isNumber: true))
        table.add(.init(title: "longest", cells: hooks.map { Self.seconds($0, "longest") }, isNumber: true))
        table.add(.init(title: "", cells: hooks.map { $0["paused"]?.flag == true ? "paused" : "" }))
        return table.lines
    }

    private var timers: [String] {
        let timers = array("timers")
        guard !timers.isEmpty else { return [] }
        var table = TextTable(columns: columns)
        table.add(.init(title: "timer", cells: timers.map { TextTable.cut(Self.text($0, "title"), to: 50) }))
        table.add(.init(title: "next", cells: timers.map { Self.text($0, "next") }))
        table.add(.init(title: "calls", cells: timers.map { Self.count($0, "calls") }, isNumber: true))
        table.add(.init(title: "errors", cells: timers.map { Self.count($0, "failures") }, isNumber: true))
        table.add(
            .init(
                title: "",
                cells: timers.map { timer in ["paused", "running"].first { timer[$0]?.flag == true } ?? "" }))
        return table.lines
    }

    private var watches: [String] {
        array("watches").map { "watch  \($0["title"]?.text ?? Self.text($0, "path"))" }
    }

    private var errors: [String] {
        array("errors").prefix(10).map {
            "\(Self.text($0, "time"))  \(Self.text($0, "title")): \(Self.text($0, "message"))"
        }
    }

    // MARK: Fields

    private func flag(_ name: String) -> Bool { status[name]?.flag == true }

    private func array(_ name: String) -> [JSONValue] { status[name]?.elements ?? [] }

    private static func text(_ value: JSONValue, _ name: String) -> String { value[name]?.text ?? "" }

    private static func count(_ value: JSONValue, _ name: String) -> String {
        value[name]?.number.map(String.init) ?? ""
    }

    /// A duration as `12 ms` or `3.1 s`.
    private static func seconds(_ value: JSONValue, _ name: String) -> String {
        let seconds = value[name]?.double ?? 0
        if seconds < 1 { return "\(Int((seconds * 1000).rounded())) ms" }
        return "\((seconds * 10).rounded() / 10) s"
    }
}
