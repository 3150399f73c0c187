import Application
import Files
import Glibc
import Items

/// Deduplicates write failures: a full disk fails each commit, each save and each file of the exit, and is reported
/// once. A value; the host logs its messages.
struct WriteFailures {
    /// An area that is written separately and may fail separately.
    enum Area: Hashable {
        case items, preferences, restoration
    }

    /// The messages reported for an area since its last success.
    private var reported: [Area: Set<String>] = [:]
    /// Whether the full disk was reported since the last success of any area.
    private var hasReportedFullDisk = false

    /// The message for a failure; nil when it was already reported.
    mutating func text(_ area: Area, _ error: any Error) -> String? {
        let message = "\(error)"
        if Self.isFullDisk(error) {
            if hasReportedFullDisk { return nil }
            hasReportedFullDisk = true
            return message + Self.advice
        }
        return reported[area, default: []].insert(message).inserted ? message : nil
    }

    /// Records a failure that the caller reports itself.
    ///
    /// - Returns: the message, with advice the first time.
    mutating func textOfCaller(_ area: Area, _ error: any Error) -> String { text(area, error) ?? "\(error)" }

    /// Records a success: the next failure of the area is new.
    mutating func noteSuccess(_ area: Area) {
        if reported.isEmpty, !hasReportedFullDisk { return }
        reported[area] = nil
        hasReportedFullDisk = false
    }

    private static let advice =
        "; make room on the disk: what is not written yet is tried again at each change and at the end of the run"

    private static func isFullDisk(_ error: any Error) -> Bool {
        let cause: (any Error)? =
            switch error {
            case let error as StoreError: error.cause
            case DefaultsError.file(let error): error
            default: error
            }
        guard let code = (cause as? FileError)?.code else { return false }
        return code == ENOSPC || code == EDQUOT
    }
}
