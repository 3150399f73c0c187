import ArgumentParser
import ItemArchive
import KeyedArchive
import PropertyList
import Wording

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
        let notices = check.hasErrors ? [] : ItemArchiveReader.notices(on: bytes)
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
        let severity =
            switch finding.severity {
            case .error: "error"
            case .warning: "warning"
            case .note: "note"
            }
        if let line = finding.line { return "\(severity) on line \(line): \(finding.message)" }
        if let offset = finding.byteOffset { return "\(severity) at byte \(offset): \(finding.message)" }
        return "\(severity): \(finding.message)"
    }
}
