public import Files

/// The application's read-only resources.
public struct ApplicationBundle: Sendable, Hashable {
    /// The folder, absolute.
    public let path: String

    /// - Parameter path: the folder with the resources; a relative path is resolved against the current working
    ///   directory.
    public init(path: String) {
        self.path = PathText.absolute(path, from: WorkingDirectory.path ?? "/")
    }

    /// The path of a resource, as Cocoa's `pathForResource:ofType:`.
    ///
    /// - Parameters:
    ///   - name: its name, including folders below the bundle.
    ///   - type: its extension without the dot; empty or nil when the name includes it.
    ///   - layer: the file system.
    /// - Returns: its path; nil if it does not exist, or the name leads out of the bundle.
    public func path(
        forResource name: String, ofType type: String? = nil, using layer: any FileLayer = PosixFileLayer()
    ) -> String? {
        let file = type.map { $0.isEmpty ? name : name + "." + $0 } ?? name
        let parts = file.split(separator: "/", omittingEmptySubsequences: false)
        guard !parts.isEmpty, parts.allSatisfy({ !$0.isEmpty && $0 != "." && $0 != ".." }) else { return nil }
        let whole = PathText.join(path, file)
        return layer.exists(whole) ? whole : nil
    }
}
