import Files
import Items

/// A picture's file in the store, for work on many pictures on any thread without the cache.
package struct PictureFile: Sendable {
    package let key: String
    let file: AttachmentFile
    let limits: ImageLimits
    let layer: any FileLayer

    package var path: String { file.path }

    /// Whether the file is here: a shared collection's may be on its server alone.
    package var isAtHand: Bool { layer.exists(path) }

    /// Opens the picture, which is fetched when only the server of a shared collection has it.
    package func open() throws(ImageError) -> Image {
        do throws(StoreError) { try file.prepare() } catch { throw ImageError(.unreadable, error) }
        return try Image.open(path, limits: limits, using: layer, isStored: true)
    }
}
