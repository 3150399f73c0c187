package import Files

/// A part of a container that others than the user, and root, can change. What they change there, the user's next launch
/// takes for the user's own.
package struct ContainerExposure: Sendable, Hashable, CustomStringConvertible {
    /// Which folder or file.
    package let path: String
    /// What the user types to mend it.
    package let command: String

    private init(_ path: String, _ status: FileStatus) {
        self.path = path
        let name = path.contains { !$0.isLetter && !$0.isNumber && !"/._-+@%".contains($0) } ? Self.quoted(path) : path
        command = status.isOwnedByOthers ? "sudo chown \"$(id -u)\" \(name)" : "chmod go-w \(name)"
    }

    package var description: String {
        "\(DisplayPath.abbreviate(path)) can be written by others than you; \(command) mends it"
    }

    /// The exposed ones among the container's own folders and files.
    ///
    /// - Parameters:
    ///   - container: which one.
    ///   - layer: its file system, of `Container.openExisting()`.
    /// - Returns: those that others can reach and change; what is missing is passed over.
    package static func all(in container: Container, using layer: any FileLayer) -> [ContainerExposure] {
        let files = (ContainerLayout.files + ["Library/Scripts/init.lua"]).map { PathText.join(container.path, $0) }
        return (container.folders + files).compactMap { find($0, in: container, layer) }
    }

    /// The first that is exposed on the way from a container's root to a file in it: others could change the file there, or
    /// put another in its place.
    ///
    /// - Parameters:
    ///   - path: beneath the container's root.
    ///   - container: which one.
    ///   - layer: its file system.
    /// - Returns: nil when the user, and root, alone decide what the file says.
    package static func first(
        onTheWayTo path: String, in container: Container, using layer: any FileLayer
    ) -> ContainerExposure? {
        for place in way(to: path, in: container) {
            if let found = find(place, in: container, layer) { return found }
        }
        return nil
    }

    /// The root, and each folder and file from there to a path.
    private static func way(to path: String, in container: Container) -> [String] {
        var places = [path]
        while let place = places.last, place != container.path, place != "/" {
            places.append(PathText.parent(of: place))
        }
        return places.reversed()
    }

    private static func find(_ path: String, in container: Container, _ layer: any FileLayer) -> ContainerExposure? {
        // A link's own permissions say nothing.
        guard let status = (try? layer.status(path)) ?? nil, status.kind != .symbolicLink, status.isWritableByOthers
        else { return nil }
        // What others cannot reach they cannot write, whatever its own permissions say.
        for folder in way(to: path, in: container).dropLast() {
            guard let above = (try? layer.status(folder)) ?? nil, above.isEnterableByOthers else { return nil }
        }
        return ContainerExposure(path, status)
    }

    private static func quoted(_ path: String) -> String {
        "'" + path.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
    }
}
