import Files
import Items

/// A picture's file in the store, for work on many pictures on any thread without the cache.
package struct PictureFile: Sendable {
    package let key: String
    let file: AttachmentFile
    let limits: ImageLimits
    let layer: any FileLayer

    package var path: String { file.path }

    /// Whether the file is local; a shared collection's may exist only on its server.
    package var isAtHand: Bool { layer.exists(path) }

    /// Opens the picture; fetches it if only a shared collection's server has it.
    package func open() throws(ImageError) -> Image {
        do throws(StoreError) { try file.prepare() } catch { throw ImageError(.unreadable, error) }
        return try Image.open(path, limits: limits, using: layer, isStored: true)
    }
}
