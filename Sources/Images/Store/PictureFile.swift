import Files

/// Where a picture of the store is, for work on many of them: on any thread, past the cache, which it would turn over.
package struct PictureFile: Sendable {
    package let key: String
    package let path: String
    let limits: ImageLimits
    let layer: any FileLayer

    package func open() throws(ImageError) -> Image { try Image.open(path, limits: limits, using: layer) }
}
