import Application
import ArgumentParser
import Files
import Glibc
import Images
import Items
import Logging

/// Checks a container: its items, their journal and index, the pictures, and leftovers.
struct ContainerCheck {
    private let container: Container
    private let repair: String?

    /// - Parameters:
    ///   - path: the container's folder.
    ///   - repair: the option's value, empty for a container; nil to ask at a terminal.
    init(_ path: String, repair: String?) {
        container = Container(path: path)
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
            container, using: layer, logger: Logger(label: "cubby", factory: { _ in SwiftLogNoOpLogHandler() }))
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

    private static func advice(_ container: Container, _ error: FileError) -> String {
        error.isMisplaced ? "; cubby check \(container.path) --repair moves it aside, if it is not a link" : ""
    }

    private func isWanted() throws -> Bool {
        if repair != nil { return true }
        guard isatty(STDIN_FILENO) == 1, isatty(STDOUT_FILENO) == 1 else {
            Report.line("  cubby check \(container.path) --repair repairs what can be repaired")
            return false
        }
        StandardStream.output.put("Repair what can be repaired? [y/N] ")
        StandardStream.flushAll()
        return readLine()?.lowercased().hasPrefix("y") ?? false
    }
}
