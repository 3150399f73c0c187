/// The keys of the pictures beside a store's files, for a check of the container: the store itself knows no pictures.
package protocol PictureKeys {
    /// The keys of the pictures that are in their places.
    func keys() throws -> [String]

    /// The keys of the pictures that were moved aside with removed items, an earlier process's among them.
    var keysAside: [String] { get }

    /// The folder that they were moved to.
    var asideDirectory: String { get }
}
