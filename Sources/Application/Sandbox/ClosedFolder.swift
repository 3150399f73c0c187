/// A folder that a program must not change.
package struct ClosedFolder: Sendable {
    /// Absolute, without links; it need not exist.
    let path: String
    /// The folders and files that the program may otherwise change, without links.
    let roots: [String]

    /// A folder beneath paths that the kernel's fence leaves open; nil if the fence closes it already.
    ///
    /// - Parameters:
    ///   - path: the folder.
    ///   - roots: the paths that the fence leaves open; everything if not given.
    package init?(_ path: String, within roots: [String] = ["/"]) {
        (self.path, self.roots) = (path, roots)
        guard roots.contains(where: isBeneath) else { return nil }
    }

    func isBeneath(_ root: String) -> Bool { path == root || path.hasPrefix(root == "/" ? "/" : root + "/") }
}
