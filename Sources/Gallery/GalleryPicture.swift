import Files
import Images

/// The files of one picture in a gallery. Usable on any thread.
struct GalleryPicture: Sendable {
    /// The subfolders of the gallery.
    static let pictures = "pictures"
    static let thumbnails = "thumbnails"
    /// The longest side of a picture in the gallery, in pixels.
    static let pictureSize = 1600
    /// The side of a thumbnail, in pixels: 120 points on a screen of twice the density.
    static let thumbnailSize = 240

    let file: PictureFile
    /// The name of both files.
    let name: String
    /// Whether it is its item's first; only that one has a thumbnail.
    let isFirst: Bool
    private let folder: String
    private let layer: any FileLayer

    /// - Parameters:
    ///   - file: the picture in the store.
    ///   - number: its item's number, from 1.
    ///   - place: its place among its item's pictures, from 0.
    ///   - folder: the gallery's folder, with its two subfolders.
    ///   - layer: the file system for the output.
    init(_ file: PictureFile, number: Int, place: Int, folder: String, layer: any FileLayer) {
        self.file = file
        self.folder = folder
        self.layer = layer
        isFirst = place == 0
        name = Self.fileName(file.key, number, place)
    }

    /// Makes both files.
    func write() -> Result<Void, ImageError> {
        do throws(ImageError) {
            let image = try file.open()
            let side = Self.pictureSize
            let isLarge = image.width > side || image.height > side
            // Files of the store usually have no metadata, and another encoding would only lose quality.
            let bare = isLarge ? nil : image.bareJPEG
            let picture: [UInt8]
            if let bare {
                picture = bare
            } else {
                picture = try image.jpegData(
                    quality: 0.8, sizing: isLarge ? ImageSizing(width: side, height: side) : nil)
            }
            try write(picture, Self.pictures)
            guard isFirst else { return .success(()) }
            let small = ImageSizing(width: Self.thumbnailSize, height: Self.thumbnailSize, mode: .fill)
            let thumbnail = try image.jpegData(quality: 0.7, sizing: small)
            try write(thumbnail, Self.thumbnails)
            return .success(())
        } catch {
            return .failure(error)
        }
    }

    private func write(_ bytes: [UInt8], _ kind: String) throws(ImageError) {
        let path = PathText.join(PathText.join(folder, kind), name)
        do throws(FileError) {
            try AtomicFile.write(bytes, to: path, using: layer, durable: false)
        } catch {
            throw ImageError(.unwritable, error)
        }
    }

    /// A name that is valid in a URL; other keys are replaced by a number.
    private static func fileName(_ key: String, _ number: Int, _ place: Int) -> String {
        let isPlain = key.utf8.allSatisfy {
            switch $0 {
            case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, 0x2d, 0x5f: true
            default: false
            }
        }
        return (isPlain ? key : "picture-\(number)") + (place == 0 ? "" : ".\(place + 1)") + ".jpg"
    }
}
