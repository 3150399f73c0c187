import Application
import Files
import Glibc
import Items

/// Which failures to write have been told: a full disk fails each commit, each save and each file of the way out, and is
/// told once. A value: what it says is logged by the host.
struct WriteFailures {
    /// What is written separately, and may fail by itself.
    enum Area: Hashable {
        case items, preferences, restoration
    }

    /// What was told of an area since it was last written.
    private var told: [Area: Set<String>] = [:]
    /// Whether that the disk is full was told since anything was last written.
    private var hasToldFullDisk = false

    /// What is to be told of a failure; nil when it has been told.
    mutating func text(_ area: Area, _ error: any Error) -> String? {
        let message = "\(error)"
        if Self.isFullDisk(error) {
            if hasToldFullDisk { return nil }
            hasToldFullDisk = true
            return message + Self.advice
        }
        return told[area, default: []].insert(message).inserted ? message : nil
    }

    /// A failure that the caller tells itself.
    ///
    /// - Returns: the words to tell it by: the first time with what to do.
    mutating func textOfCaller(_ area: Area, _ error: any Error) -> String { text(area, error) ?? "\(error)" }

    /// The area has been written: its next failure is a new one.
    mutating func noteSuccess(_ area: Area) {
        if told.isEmpty, !hasToldFullDisk { return }
        told[area] = nil
        hasToldFullDisk = false
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
