import Application
import ArgumentParser
import Files
import Glibc
import Logging
import Stores

/// Checks a container: its items, their journal and index, the pictures, and what lies about.
struct ContainerCheck {
    private let container: Container
    private let repair: String?

    /// - Parameters:
    ///   - path: the container's folder.
    ///   - repair: nil to ask, at a terminal, whether to repair.
    init(_ path: String, repair: String?) {
        container = Container(path: path)
        self.repair = repair
    }

    func run() throws {
        guard PosixFileLayer().exists(container.documents) else {
            throw ArchiveFiles.failure(
                ArchiveFiles.badData, "\(container.displayPath) is no container: it has no Documents")
        }
        if let repair, !repair.isEmpty {
            throw ValidationError("A container is repaired in place: cubby check \(container.path) --repair")
        }
        let check = StoreCheck(container, logger: Logger(label: "cubby", factory: { _ in SwiftLogNoOpLogHandler() }))
        print("\(container.displayPath):")
        for finding in check.findings {
            print("  \(finding.severity.rawValue): \(finding.message)")
            if let remedy = finding.remedy { print("    --repair would \(remedy)") }
        }
        if let holder = ContainerLock.holder(of: container) { print("  note: in use by \(holder.text)") }
        let isWell = !check.findings.contains { $0.severity != .note }
        if isWell { return print("  nothing is wrong") }
        guard check.canBeRepaired, try isWanted() else {
            if check.hasErrors { throw ExitCode(ArchiveFiles.badData) }
            return
        }
        do {
            let lock = try ContainerLock(container)
            defer { lock.release() }
            for text in try check.repair() { print("  repaired: \(text)") }
        } catch let error as ContainerLockError {
            guard case .inUse = error else { throw ArchiveFiles.failure(74, error.message) }
            throw ArchiveFiles.failure(ExitStatus.containerInUse.rawValue, error.message)
        } catch let error as StoreError {
            throw ArchiveFiles.failure(error.code == .corruptArchive ? ArchiveFiles.badData : 74, error.message)
        } catch let error as FileError {
            throw ArchiveFiles.failure(74, error.message)
        }
    }

    private func isWanted() throws -> Bool {
        if repair != nil { return true }
        guard isatty(STDIN_FILENO) == 1, isatty(STDOUT_FILENO) == 1 else {
            print("  cubby check \(container.path) --repair repairs what can be repaired")
            return false
        }
        print("Repair what can be repaired? [y/N] ", terminator: "")
        fflush(nil)
        return readLine()?.lowercased().hasPrefix("y") ?? false
    }
}
