import Foundation
package import Glibc

/// A running process as `/proc` tells of it, at one moment.
package struct SystemProcess: Sendable {
    package let pid: pid_t
    /// The command's name, at most 15 bytes.
    package let name: String
    /// The kernel's letter: `R` running, `S` sleeping, `T` stopped, `Z` ended and not yet waited for.
    package let state: Character
    package let parent: pid_t
    package let session: pid_t

    /// Reads about one process; nil when there is none.
    package init?(pid: pid_t) {
        guard let stat = try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8),
            let open = stat.firstIndex(of: "("), let close = stat.lastIndex(of: ")")
        else { return nil }
        // The name may hold spaces and parentheses; what follows its last parenthesis is plain.
        let fields = stat[close...].dropFirst(2).split(separator: " ")
        guard fields.count > 3, let state = fields[0].first, let parent = pid_t(fields[1]),
            let session = pid_t(fields[3])
        else { return nil }
        self.pid = pid
        name = String(stat[stat.index(after: open)..<close])
        self.state = state
        self.parent = parent
        self.session = session
    }

    /// Every process of a session.
    package static func inSession(_ session: pid_t) -> [SystemProcess] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return names.compactMap { pid_t($0) }.compactMap { SystemProcess(pid: $0) }.filter { $0.session == session }
    }
}
