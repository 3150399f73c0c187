import Files

/// Where a picture of the store is, for work on many of them: on any thread, past the cache, which it would turn over.
struct PictureFile: Sendable {
    let key: String
    let path: String
    let limits: ImageLimits
    let layer: any FileLayer

    func open() throws(ImageError) -> Image { try Image.open(path, limits: limits, using: layer) }
}
