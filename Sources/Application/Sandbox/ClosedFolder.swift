/// A folder that a program must not change.
package struct ClosedFolder: Sendable {
    /// Absolute, without links; it need not exist.
    let path: String
    /// The folders and files that the program may change apart from it, without links.
    let roots: [String]

    /// A folder beneath what the kernel's fence leaves; nil when the fence closes it already.
    ///
    /// - Parameters:
    ///   - path: the folder.
    ///   - roots: what the fence leaves; everything if not given.
    package init?(_ path: String, within roots: [String] = ["/"]) {
        (self.path, self.roots) = (path, roots)
        guard roots.contains(where: isBeneath) else { return nil }
    }

    func isBeneath(_ root: String) -> Bool { path == root || path.hasPrefix(root == "/" ? "/" : root + "/") }
}
