import Application
import ArgumentParser
import Files
import Glibc
import Images
import ItemArchive
import Items
import KeyedArchive
import Logging
import PropertyList

/// `cubby check FILE`, `cubby check CONTAINER`, and `cubby check` for the default container.
struct CheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract:
            "Check a keyed archive, a property list or a container: report faults with their place, rescue contents.",
        discussion: """
            Without a path: the default container, which CUBBY_CONTAINER names.
            The exit status is 65 if something cannot be read.
            """)

    @Option(
        defaultAsFlag: "",
        help: ArgumentHelp(
            "Write the readable contents of a damaged file to a file, in binary format; repair a container in place.",
            valueName: "out"), completion: .file())
    var repair: String?

    @Flag(help: ArgumentHelp(TimelineCommand.reportHelp))
    var report = false

    @Argument(
        help: "The file, - for standard input, or a container (default: the container).", completion: .file())
    var path: String?

    /// `--repair CONTAINER` means `CONTAINER --repair`.
    mutating func validate() throws {
        if path == nil, let repair, ContainerInspection.isFolder(repair) { (path, self.repair) = (repair, "") }
        guard let path else {
            guard repair == nil || repair == "" else { throw ValidationError("Say which file to check.") }
            return
        }
        if repair == "", !ContainerInspection.isFolder(path) {
            throw ValidationError("--repair takes the path of a file to write.")
        }
    }

    func run() throws {
        SignalMask.restore()
        let path = try path ?? Self.defaultContainer()
        let provenance = Provenance(isWanted: report)
        if report { Provenance.write(provenance.head, toError: false) }
        defer { if report { Provenance.write(provenance.foot, toError: false) } }
        if ContainerInspection.isFolder(path) { return try ContainerCheck(path, repair: repair, provenance).run() }
        if EvidenceDatabase.isDatabase(path) {
            guard repair == nil else {
                throw ValidationError("A database is not repaired: the program sqlite3 has .recover for that.")
            }
            return try DatabaseInspection.check(path, provenance)
        }
        try FileCheck(path: path, repair: repair, provenance: provenance).run()
    }

    /// The path of the container that is checked without a path.
    private static func defaultContainer() throws -> String {
        let container = try ContainerArgument.locate(nil, orSay: "is gone after each run: nothing is left to check")
        guard PosixFileLayer().exists(container.path) else {
            throw CommandFailure.exit(
                .inputOutput,
                "there is no container yet: \(container.displayPath) is not there; name a file or a container to check")
        }
        return container.path
    }
}

/// Checks one file and reports the findings.
struct FileCheck {
    let path: String
    let repair: String?
    let provenance: Provenance

    func run() throws {
        let bytes = try ArchiveFiles.bytes(of: path, provenance)
        if EvidenceTree.isJournal(bytes) { return try checkJournal(bytes) }
        let check = ArchiveCheck(bytes)
        let tree = try? ArchiveTree(PropertyListStorage(bytes))
        provenance.recordRead(path, bytes, kind: tree?.kind(of: bytes) ?? "not readable")
        // What the layers of the file do not have: archives in its data, and values that unfold without end.
        var problems = FileProblems()
        if !check.hasErrors, let tree { problems.add(TreeDamage(in: tree)) }
        for problem in problems.list { provenance.recordUnread(path, problem.path, reason: problem.reason) }
        for finding in check.findings where finding.severity == .error {
            provenance.recordUnread(path, reason: Self.text(finding))
        }
        // The application that owns an archive of items may read other values than are there.
        let notices = check.hasErrors ? [] : ItemArchiveReader.notices(on: bytes, .household)
        let isWell = check.findings.isEmpty && notices.isEmpty && problems.list.isEmpty
        Report.line("\(ArchiveFiles.name(path)): \(check.kind)\(isWell ? ", nothing wrong" : "")")
        for finding in check.findings { Report.line("  \(Self.text(finding))") }
        for problem in problems.texts { Report.line("  error: \(problem)") }
        for notice in notices { Report.line("  warning: \(notice)") }
        guard check.hasErrors else {
            if let repair {
                try ArchiveFiles.write(bytes, to: repair)
                let reason = problems.list.isEmpty ? "nothing to repair" : "nothing that can be repaired"
                Report.line("  \(reason): wrote its \(bytes.count.counted("byte")) as they are to \(repair)")
            }
            if problems.list.isEmpty { return }
            throw ExitCode(ExitStatus.badData.rawValue)
        }
        if let rescue = check.rescue {
            Report.line(
                "  rescue: \(rescue.whole.grouped) of \(rescue.total.grouped) objects are whole, found \(rescue.method)"
            )
            Report.line(
                "  \(rescue.bytes.count.counted("byte")) with \(rescue.entriesAfter.counted("entry")) of dictionaries and "
                    + "lists, where the file has \(bytes.count.counted("byte")) with "
                    + "\(rescue.entriesBefore.grouped) that can be read")
            if let repair {
                try ArchiveFiles.write(rescue.bytes, to: repair)
                Report.line("  wrote what could be rescued to \(repair)")
            } else {
                Report.line("  cubby check --repair OUT \(ArchiveFiles.name(path)) writes them")
            }
        } else {
            Report.line("  rescue: nothing can be had of it")
        }
        throw ExitCode(ExitStatus.badData.rawValue)
    }

    /// A journal by itself: whether its commits can be read, not whether they fit its archive.
    private func checkJournal(_ bytes: [UInt8]) throws {
        guard repair == nil else {
            throw CommandFailure.exit(
                .usage, "a journal is repaired with its container: cubby check CONTAINER --repair")
        }
        let journal = try EvidenceTree.ofJournal(bytes, path, provenance)
        let isWell = journal.problems.list.isEmpty
        Report.line("\(ArchiveFiles.name(path)): \(journal.kind)\(isWell ? ", nothing wrong" : "")")
        for problem in journal.problems.texts { Report.line("  error: \(problem)") }
        for problem in journal.problems.list { provenance.recordUnread(path, problem.path, reason: problem.reason) }
        if !isWell { throw ExitCode(ExitStatus.badData.rawValue) }
    }

    static func text(_ finding: PropertyListFinding) -> String {
        let severity = finding.severity.rawValue
        if let line = finding.line { return "\(severity) on line \(line): \(finding.message)" }
        if let offset = finding.byteOffset { return "\(severity) at byte \(offset): \(finding.message)" }
        return "\(severity): \(finding.message)"
    }
}

/// Checks a container: its items, their journal and index, the pictures, and leftovers.
struct ContainerCheck {
    private let container: ApplicationContainer
    private let repair: String?
    private let provenance: Provenance

    /// - Parameters:
    ///   - path: the container's folder.
    ///   - repair: the option's value, empty for a container; nil to ask at a terminal.
    ///   - provenance: records the container's files.
    init(_ path: String, repair: String?, _ provenance: Provenance) {
        container = ApplicationContainer(path: path)
        self.repair = repair
        self.provenance = provenance
    }

    func run() throws {
        guard PosixFileLayer().exists(container.documents) || PosixFileLayer().exists(container.library) else {
            provenance.recordUnread(container.path, reason: "it is not a container")
            throw CommandFailure.exit(
                .badData,
                "\(container.displayPath) is not a container: it has no Documents; cubby inspect --json-lines checks each file "
                    + "of a folder")
        }
        if let repair, !repair.isEmpty {
            throw ValidationError("A container is repaired in place: cubby check \(container.path) --repair")
        }
        try repairLayout()
        let layer: BeneathFileLayer
        do throws(FileError) {
            layer = try container.openExisting()
            try ContainerRepair(container).check(using: layer)
        } catch {
            throw CommandFailure.exit(error, advice: Self.advice(container, error))
        }
        let check = self.check(layer)
        Report.line("\(container.displayPath):")
        if provenance.isWanted { recordFiles() }
        for finding in check.findings {
            if finding.severity == .error { provenance.recordUnread(container.path, reason: finding.message) }
            Report.line("  \(finding.severity.rawValue): \(finding.message)")
            if let remedy = finding.remedy { Report.line("    --repair would \(remedy)") }
        }
        if let holder = FolderLock.holder(of: container.path) { Report.line("  note: in use by \(holder.text)") }
        let isWell = !check.findings.contains { $0.severity != .note }
        if isWell { return Report.line("  nothing is wrong") }
        guard check.canBeRepaired, try isWanted() else {
            if check.hasErrors { throw ExitCode(ExitStatus.badData.rawValue) }
            return
        }
        do {
            for text in try check.repair() { Report.line("  repaired: \(text)") }
        } catch let error as FolderLockError {
            throw CommandFailure.exit(error)
        } catch let error as StoreError {
            throw CommandFailure.exit(error.code == .inputOutput ? .inputOutput : .badData, error.message)
        } catch let error as FileError {
            throw CommandFailure.exit(error)
        }
        let left = self.check(layer).findings.filter { $0.severity == .error }
        if left.isEmpty { return }
        Report.line("  what remains:")
        for finding in left { Report.line("  \(finding.severity.rawValue): \(finding.message)") }
        throw ExitCode(ExitStatus.badData.rawValue)
    }

    private func check(_ layer: BeneathFileLayer) -> StoreCheck {
        StoreCheck(
            container, using: layer, schema: OwnFields.schema(of: container),
            logger: Logger(label: "cubby", factory: { _ in SwiftLogNoOpLogHandler() }))
    }

    /// Records the files of the container's stores, with their digests; the caches and scripts are not checked.
    private func recordFiles() {
        let layer = PosixFileLayer()
        for entry in FileTree([container.documents, container.preferences]) {
            if let problem = entry.problem {
                provenance.recordUnread(entry.path, reason: problem.message)
            } else if let omission = entry.omission {
                provenance.recordPassedOver(entry.path, omission)
            } else if let digest = try? layer.digest(of: entry.path), let status = try? layer.status(entry.path) {
                let name = PathText.name(of: entry.path)
                let kind =
                    switch name {
                    case "items.archive": "archive of items"
                    case "items.journal": "journal of items"
                    case _ where name.hasSuffix(".plist"): "property list"
                    default: "file"
                    }
                provenance.record(
                    Provenance.Source(file: entry.path, size: status.size, digest: digest.hexadecimal, kind: kind))
            } else {
                provenance.recordUnread(entry.path, reason: "it cannot be read")
            }
        }
    }

    /// What prevents a container from being opened at all: a restore that was interrupted, an unreadable format, other
    /// kinds of files in the place of its own.
    private func repairLayout() throws {
        do {
            if repair != nil {
                let hasOwnFields = StoreCheck.hasOwnFields(container)
                for text in try ContainerRepair(container).mend(hasOwnFields: hasOwnFields) {
                    Report.line("repaired: \(text)")
                }
            }
            try Self.checkFormat(container)
        } catch let error as FolderLockError {
            throw CommandFailure.exit(error)
        } catch let error as FileError {
            throw CommandFailure.exit(error, advice: repair == nil ? Self.advice(container, error) : "")
        }
    }

    /// Refuses a container of a newer format.
    static func checkFormat(_ container: ApplicationContainer) throws {
        do { try ContainerFormat.check(container) } catch let error as ContainerFormatError {
            throw CommandFailure.exit(.badData, error.description)
        } catch let error as FileError {
            throw CommandFailure.exit(error, advice: advice(container, error))
        }
    }

    private static func advice(_ container: ApplicationContainer, _ error: FileError) -> String {
        error.isMisplaced ? "; cubby check \(container.path) --repair moves it aside, if it is not a link" : ""
    }

    private func isWanted() throws -> Bool {
        if repair != nil { return true }
        guard isatty(StandardDescriptor.input) == 1, StandardStream.output.isTerminal else {
            Report.line("  cubby check \(container.path) --repair repairs what can be repaired")
            return false
        }
        StandardStream.output.put("Repair what can be repaired? [y/N] ")
        StandardStream.flushAll()
        return StandardDescriptor.readLine()?.lowercased().hasPrefix("y") ?? false
    }
}
