import Foundation

/// Where the project's own things are: its sources, the program that was built, and the data shared between checkouts.
package enum Project {
    /// The package's folder, found from this file's own path.
    package static let root: String = {
        var components = #filePath.split(separator: "/", omittingEmptySubsequences: false)
        components.removeLast(3)
        return components.joined(separator: "/")
    }()

    /// The built program: `CUBBY_BINARY`, or the newer of the release and the debug build; nil when there is none.
    package static var cubby: String? {
        if let path = environment("CUBBY_BINARY") { return path }
        let candidates = ["\(root)/.build/release/cubby", "\(root)/.build/debug/cubby"]
        return candidates.compactMap { path in modificationDate(path).map { (path, $0) } }.max { $0.1 < $1.1 }?.0
    }

    /// The shared data: `CUBBY_SHARED`, or `shared` beside the package; nil when it is absent.
    ///
    /// Tests skip with `.enabled(if: Project.shared != nil, Project.sharedIsAbsent)` when they need it.
    package static let shared: String? = {
        let path = environment("CUBBY_SHARED") ?? "\(root)/../shared"
        return FileManager.default.fileExists(atPath: "\(path)/data") ? path : nil
    }()

    /// The message of a test that is skipped because the shared data is absent.
    package static let sharedIsAbsent = "needs ../shared/data (or CUBBY_SHARED), which is not there"

    /// The message of a test that is skipped because the program has not been built.
    package static let cubbyIsAbsent = "needs the built program (swift build, or CUBBY_BINARY), which is not there"

    /// The path of a file of the shared data, or nil when the data is absent.
    package static func sharedData(_ name: String) -> String? {
        shared.map { "\($0)/data/\(name)" }
    }

    /// By how much all waits of the tests' helpers are longer: `CUBBY_PATIENCE`, for programs that a sanitizer slows down.
    package static let patience = environment("CUBBY_PATIENCE").flatMap(Double.init) ?? 1

    /// An environment variable that is set and not empty.
    package static func environment(_ name: String) -> String? {
        ProcessInfo.processInfo.environment[name].flatMap { $0.isEmpty ? nil : $0 }
    }

    private static func modificationDate(_ path: String) -> Date? {
        let resolved = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
        return try? FileManager.default.attributesOfItem(atPath: resolved)[.modificationDate] as? Date
    }
}
