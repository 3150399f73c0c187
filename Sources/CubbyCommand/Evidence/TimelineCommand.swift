import Application
import ArgumentParser
import Files
import KeyedArchive
import PropertyList
import SQLite
import Scripting
import TimeZones

extension TimelineOutput.Format: ExpressibleByArgument {}

/// `cubby timeline PATH…`: every date of archives, property lists and databases, in order.
struct TimelineCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "timeline",
        abstract: "List every date of keyed archives, property lists and SQLite databases, in order.",
        discussion: """
            Folders are read with all their contents; links in them are not followed. Archives and property lists in data, \
            also in that of databases, are opened. Numbers are dates only if --epoch says so: their field is a column, \
            table.column, a key, or a whole path.
            Each date has its time, file, the file's SHA-256, its path for cubby inspect, its class and the epoch by which \
            it was read. The same files and options give the same bytes, but for the report. Nothing is written beside the \
            files. All dates are in memory, some 200 bytes for each, five million at most.
            The exit status is 65 if a file is damaged, and 74 if one cannot be read.
            """)

    @Option(help: ArgumentHelp("The first day or moment, as 2026-11-21 or 2026-11-21T04:13:00.", valueName: "date"))
    var from: String?

    @Option(help: ArgumentHelp("The last day, month, year or moment, which is included.", valueName: "date"))
    var to: String?

    @Option(help: ArgumentHelp("The zone of the times, such as Europe/Berlin.", valueName: "name"))
    var zone: String = "UTC"

    @Option(help: "The format: table, csv, jsonl or html.")
    var format = TimelineOutput.Format.table

    @Option(
        help: ArgumentHelp(
            "A field whose numbers are dates, and how: unix or cocoa seconds, webkit microseconds, ms milliseconds; iso "
                + "for texts. May be repeated.",
            valueName: "field=epoch"))
    var epoch: [String] = []

    @Flag(help: ArgumentHelp(Self.reportHelp))
    var report = false

    @Flag(name: .customLong("no-color"), help: "Do not use colours.")
    var noColor = false

    @Argument(help: "Files and folders; - is standard input.", completion: .file())
    var paths: [String]

    /// The help of `--report` for all commands that have it.
    static let reportHelp =
        "Begin with the program's version, the options, the zone and the time, and end with each file that was read or "
        + "passed over, and what could not be read."

    /// What is not understood is said with this command's usage.
    func validate() throws {
        _ = try EpochFields(epoch)
        _ = try TimelineBounds(from: from, to: to, zone: try foundZone())
    }

    private func foundZone() throws -> Zone {
        do throws(ZoneError) { return try Zone.named(zone) } catch { throw ValidationError("\(error).") }
    }

    func run() throws {
        SignalMask.restore()
        let found = try foundZone()
        let bounds = try TimelineBounds(from: from, to: to, zone: found)
        let provenance = Provenance(isWanted: report, zone: found.name)
        var reading = TimelineReading(Timeline(try EpochFields(epoch), bounds: bounds), provenance)
        let timeline = try reading.run(paths)
        let output = TextOutput(noColor: noColor)
        try TimelineOutput(timeline, zone: found, provenance: report ? provenance : nil, output).write(as: format)
        guard !output.isClosed else { throw ExitCode.success }
        let status = reading.report()
        if status != .done { throw ExitCode(status.rawValue) }
    }
}

/// Reads the files of a timeline, one at a time.
struct TimelineReading {
    private var timeline: Timeline
    private let provenance: Provenance
    private var tally = EvidenceTally()

    init(_ timeline: Timeline, _ provenance: Provenance) { (self.timeline, self.provenance) = (timeline, provenance) }

    /// Reads all files.
    ///
    /// - Returns: the sorted timeline.
    /// - Throws: the exit status for too many dates.
    mutating func run(_ paths: [String]) throws -> Timeline {
        if StandardStream.error.isTerminal { tally.begin("Reading", paths) }
        for (index, entry) in FileTree(paths).enumerated() {
            tally.show(index)
            read(entry)
            guard !timeline.isFull else {
                tally.finish()
                throw CommandFailure.exit(
                    .scriptError,
                    "there are more than \(Timeline.maximumEvents.counted("date")): choose some by --from and --to, or "
                        + "fewer files")
            }
        }
        tally.finish()
        timeline.sort()
        recordRemarks()
        return timeline
    }

    private mutating func read(_ entry: FileTree.Entry) {
        let path = entry.path
        do throws(FileError) {
            switch try EvidenceFile(entry, provenance) {
            case .passedOver(let reason):
                provenance.recordPassedOver(path, reason)
                tally.passOver(path, reason)
            case .propertyList(let bytes): readList(path, bytes)
            case .database: readDatabase(path)
            }
        } catch {
            tally.files += 1
            fail(path, error.brief(for: path), .inputOutput)
        }
    }

    private mutating func readList(_ path: String, _ bytes: [UInt8]) {
        tally.files += 1
        let digest = SHA256.digest(bytes).hexadecimal
        do throws(ArchiveError) {
            let opened = try EvidenceTree(bytes, of: path)
            provenance.recordRead(path, bytes, digest: digest, kind: opened.kind)
            for finding in opened.tree.findings {
                provenance.recordRemark("\(ArchiveFiles.name(path)): \(FileCheck.text(finding))")
            }
            var problems = opened.problems
            problems.add(timeline.add(opened.tree, of: path, digest: digest))
            fail(path, problems, .badData)
        } catch {
            provenance.recordRead(path, bytes, digest: digest, kind: "not readable")
            fail(path, error.description, .badData)
        }
    }

    private mutating func readDatabase(_ path: String) {
        tally.files += 1
        do {
            let database = try EvidenceDatabase(path)
            provenance.record(database.parts)
            fail(path, timeline.add(database, of: path), .badData)
        } catch {
            fail(path, EvidenceDatabase.message(error), EvidenceDatabase.status(error))
        }
    }

    /// Records what could not be read in a file.
    private mutating func fail(_ path: String, _ reason: String, _ failure: ExitStatus) {
        var problems = FileProblems()
        problems.add("", reason)
        fail(path, problems, failure)
    }

    private mutating func fail(_ path: String, _ problems: FileProblems, _ failure: ExitStatus) {
        tally.record(problems, of: path, as: failure, provenance)
        tally.say(problems, of: path)
    }

    // MARK: - Notes

    private func recordRemarks() {
        let undated = timeline.undated.sortedByNames()
        for (column, count) in undated.prefix(EvidenceTally.namedCount) {
            provenance.recordRemark(
                "\(column) is declared as dates and has \(count.counted("value")), which are none without "
                    + "--epoch \(column)=cocoa, unix, webkit or ms for numbers, iso for texts")
        }
        for (field, count) in timeline.misfits.sortedByNames() {
            provenance.recordRemark("\(field) has \(count.counted("value")) that its epoch does not read")
        }
        if undated.count > EvidenceTally.namedCount {
            provenance.recordRemark("so are \((undated.count - EvidenceTally.namedCount).counted("other column"))")
        }
        for (field, near) in timeline.fields.unmet {
            let hint = near.map { "; did you mean '\($0)'?" } ?? ""
            provenance.recordRemark("--epoch \(field): nothing has that field\(hint)")
        }
        if timeline.events.isEmpty, timeline.outside > 0 {
            let count = timeline.outside
            provenance.recordRemark(
                "\(count.counted("date")) \(count == 1 ? "is" : "are") there, but not between --from and --to")
        }
        if timeline.boundless > 0 {
            let count = timeline.boundless
            provenance.recordRemark(
                "\(count.counted("date")) \(count == 1 ? "is" : "are") not a number, and neither between --from and --to "
                    + "nor outside")
        }
    }

    /// Says on standard error what is not in the timeline.
    ///
    /// - Returns: the exit status.
    func report() -> ExitStatus {
        for remark in provenance.remarks { tally.say(remark) }
        tally.report(naming: "--report")
        return tally.status
    }
}

extension NameTable where Value == Int {
    fileprivate func sortedByNames() -> [(String, Int)] { keys.sorted().map { ($0, self[$0, default: 0]) } }
}
