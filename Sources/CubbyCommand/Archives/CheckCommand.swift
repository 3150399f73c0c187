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

/// `cubby check FILE`, `cubby check CONTAINER`
struct CheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract:
            "Check a keyed archive, a property list or a container: report faults with their place, rescue contents.",
        discussion: "The exit status is 65 if something cannot be read.")

    @Option(
        defaultAsFlag: "",
        help: ArgumentHelp(
            "Write the readable contents of a damaged file to a file, in binary format; repair a container in place.",
            valueName: "out"), completion: .file())
    var repair: String?

    @Argument(help: "The file, - for standard input, or a container.", completion: .file())
    var path: String?

    /// `--repair CONTAINER` means `CONTAINER --repair`.
    mutating func validate() throws {
        if path == nil, let repair, isFolder(repair) { (path, self.repair) = (repair, "") }
        guard let path else { throw ValidationError("Say which file or container to check.") }
        if repair == "", !isFolder(path) { throw ValidationError("--repair takes the path of a file to write.") }
    }

    private func isFolder(_ path: String) -> Bool {
        !path.isEmpty && path != "-" && PosixFileLayer().exists(PathText.join(path, "."))
    }

    func run() throws {
        SignalMask.restore()
        guard let path else { return }
        if isFolder(path) { return try ContainerCheck(path, repair: repair).run() }
        try FileCheck(path, repair: repair).run()
    }
}

/// Checks one file and reports the findings.
struct FileCheck {
    private let path: String
    private let repair: String?

    init(_ path: String, repair: String?) {
        self.path = path
        self.repair = repair
    }

    func run() throws {
        let bytes = try ArchiveFiles.bytes(of: path)
        let check = ArchiveCheck(bytes)
        // The application that owns an archive of items may read other values than are there.
        let notices = check.hasErrors ? [] : ItemArchiveReader.notices(on: bytes, .household)
        let isWell = check.findings.isEmpty && notices.isEmpty
        Report.line("\(ArchiveFiles.name(path)): \(check.kind)\(isWell ? ", nothing wrong" : "")")
        for finding in check.findings { Report.line("  \(Self.text(finding))") }
        for notice in notices { Report.line("  warning: \(notice)") }
        guard check.hasErrors else {
            guard let repair else { return }
            try ArchiveFiles.write(bytes, to: repair)
            return Report.line("  nothing to repair: wrote its \(bytes.count.counted("byte")) as they are to \(repair)")
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

    private static func text(_ finding: PropertyListFinding) -> String {
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

    /// - Parameters:
    ///   - path: the container's folder.
    ///   - repair: the option's value, empty for a container; nil to ask at a terminal.
    init(_ path: String, repair: String?) {
        container = ApplicationContainer(path: path)
        self.repair = repair
    }

    func run() throws {
        guard PosixFileLayer().exists(container.documents) || PosixFileLayer().exists(container.library) else {
            throw CommandFailure.exit(
                .badData, "\(container.displayPath) is not a container: it has no Documents")
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
        let check = StoreCheck(
            container, using: layer, schema: OwnFields.schema(of: container),
            logger: Logger(label: "cubby", factory: { _ in SwiftLogNoOpLogHandler() }))
        Report.line("\(container.displayPath):")
        for finding in check.findings {
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
            throw CommandFailure.exit(error.code == .corruptArchive ? .badData : .inputOutput, error.message)
        } catch let error as FileError {
            throw CommandFailure.exit(error)
        }
    }

    /// What prevents a container from being opened at all: a restore that was interrupted, an unreadable format, other
    /// kinds of files in the place of its own.
    private func repairLayout() throws {
        do {
            if repair != nil {
                for text in try ContainerRepair(container).mend() { Report.line("repaired: \(text)") }
            }
            try ContainerFormat.check(container)
        } catch let error as ContainerFormatError {
            throw CommandFailure.exit(.badData, error.description)
        } catch let error as FolderLockError {
            throw CommandFailure.exit(error)
        } catch let error as FileError {
            throw CommandFailure.exit(error, advice: repair == nil ? Self.advice(container, error) : "")
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
