package import Files

/// A part of a container that other users can change. The user's next launch would trust their changes.
package struct ContainerExposure: Sendable, Hashable, CustomStringConvertible {
    /// The folder or file.
    package let path: String
    /// The command that corrects the permissions.
    package let command: String

    private init(_ path: String, _ status: FileStatus) {
        self.path = path
        let name = path.contains { !$0.isLetter && !$0.isNumber && !"/._-+@%".contains($0) } ? Self.quoted(path) : path
        command = status.isOwnedByOthers ? "sudo chown \"$(id -u)\" \(name)" : "chmod go-w \(name)"
    }

    package var description: String {
        "\(DisplayPath.abbreviate(path)) can be written by somebody other than you; \(command) mends it"
    }

    /// The exposed folders and files of a container.
    ///
    /// - Parameters:
    ///   - container: the container.
    ///   - layer: its file system, which `Container.openExisting()` returned.
    /// - Returns: those that other users can reach and change; missing ones are skipped.
    package static func all(in container: Container, using layer: any FileLayer) -> [ContainerExposure] {
        let files = (ContainerLayout.files + ["Library/Scripts/init.lua"]).map { PathText.join(container.path, $0) }
        return (container.folders + files).compactMap { find($0, in: container, layer) }
    }

    /// The first exposed folder or file on the path from a container's root to a file: other users could change or
    /// replace the file there.
    ///
    /// - Parameters:
    ///   - path: a path beneath the container's root.
    ///   - container: the container.
    ///   - layer: its file system.
    /// - Returns: nil when only the user, and root, can change the file.
    package static func first(
        onTheWayTo path: String, in container: Container, using layer: any FileLayer
    ) -> ContainerExposure? {
        for place in way(to: path, in: container) {
            if let found = find(place, in: container, layer) { return found }
        }
        return nil
    }

    /// The root, and each folder and file from the root to a path.
    private static func way(to path: String, in container: Container) -> [String] {
        var places = [path]
        while let place = places.last, place != container.path, place != "/" {
            places.append(PathText.parent(of: place))
        }
        return places.reversed()
    }

    private static func find(_ path: String, in container: Container, _ layer: any FileLayer) -> ContainerExposure? {
        // A link's own permissions have no effect.
        guard let status = (try? layer.status(path)) ?? nil, status.kind != .symbolicLink, status.isWritableByOthers
        else { return nil }
        // A file that others cannot reach is safe regardless of its own permissions.
        for folder in way(to: path, in: container).dropLast() {
            guard let above = (try? layer.status(folder)) ?? nil, above.isEnterableByOthers else { return nil }
        }
        return ContainerExposure(path, status)
    }

    private static func quoted(_ path: String) -> String {
        "'" + path.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
    }
}
