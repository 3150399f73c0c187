import Foundation

/// A folder of `examples/` that is a package of its own, built as its reader would build it.
package struct ExamplePackage {
    private let folder: String
    private let configuration: String

    /// Whether the packages that take minutes are tried: `scripts/test --all`.
    package static var areAllTried: Bool { ProcessInfo.processInfo.environment["CUBBY_ALL"] != nil }

    /// Builds a package.
    ///
    /// - Parameters:
    ///   - name: the folder's name.
    ///   - isOptimized: whether it is built for use rather than for debugging.
    /// - Throws: what the compiler said, when it failed or warned.
    package init(_ name: String, isOptimized: Bool = false) throws {
        folder = "\(Project.root)/examples/\(name)"
        configuration = isOptimized ? "release" : "debug"
        let build = try run(
            "swift",
            ["build", "--package-path", folder, "--scratch-path", "\(folder)/.build", "-c", configuration],
            timeout: 1200)
        let said = build.stdout + build.stderr
        guard build.status == .exited(0) else { throw TestFailure(said) }
        // Those of other packages are theirs.
        let warnings = said.split(separator: "\n").filter { $0.hasPrefix(Project.root) && $0.contains("warning:") }
        if !warnings.isEmpty { throw TestFailure(warnings.joined(separator: "\n")) }
    }

    /// The path of its program.
    package func program(_ name: String) -> String { "\(folder)/.build/\(configuration)/\(name)" }
}
