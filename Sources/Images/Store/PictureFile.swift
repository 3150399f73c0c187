import Files

/// A picture's file in the store, for work on many pictures on any thread without the cache.
package struct PictureFile: Sendable {
    package let key: String
    package let path: String
    let limits: ImageLimits
    let layer: any FileLayer

    package func open() throws(ImageError) -> Image { try Image.open(path, limits: limits, using: layer) }
}
