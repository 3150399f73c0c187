import PropertyList

/// What in a tree cannot be read, by path: values, archives in data, and the tree itself; of a hostile file not all of it.
package struct TreeDamage {
    /// A place that cannot be read.
    package struct Place {
        /// For `cubby inspect --path`; empty for the tree itself.
        package let path: TreePath
        /// Why it cannot be read.
        package let reason: String
    }

    /// The places, in the order of `TreeWalk`.
    package private(set) var places: [Place] = []
    private static let maximum = 100

    /// Visits all of a tree.
    ///
    /// - Parameters:
    ///   - tree: the tree.
    ///   - path: the path of the tree, or of the node.
    ///   - node: the node that is visited with what is below it; nil for all of the tree.
    package init(in tree: ArchiveTree, at path: TreePath = TreePath([]), below node: ArchiveTree.Node? = nil) {
        if node == nil, let error = tree.archiveError { places.append(Place(path: path, reason: error.description)) }
        let base = path.steps.lastIndex(of: .embedded).map { Array(path.steps[...$0]) } ?? []
        var walk = TreeWalk(tree, prefix: node == nil ? path.steps : base)
        do {
            if let node {
                try walk.run(below: node, at: path) { visit, walk in try add(visit, walk) }
            } else {
                try walk.run { visit, walk in try add(visit, walk) }
            }
        } catch is TooMuch {
            places.append(Place(path: TreePath([]), reason: "more cannot be read, which is not named here"))
        } catch {
            places.append(Place(path: path, reason: "\(error)"))
        }
    }

    private struct TooMuch: Error {}

    private mutating func add(_ visit: TreeWalk.Visit, _ walk: TreeWalk) throws {
        guard let error = visit.damage else { return }
        guard places.count < Self.maximum else { throw TooMuch() }
        places.append(Place(path: walk.path, reason: error.description))
    }
}

extension TreeWalk.Visit {
    /// Why the value, or the archive or property list in its data, cannot be read; nil for one that can.
    package var damage: ArchiveError? {
        switch value.content {
        case .broken(let error): return error
        case .leaf(.data) where !isRepeated:
            switch tree.embedded(in: node) {
            case .success(let inner)?: return inner.archiveError
            case .failure(let error)?: return error
            case nil: return nil
            }
        default: return nil
        }
    }
}
