import Application
import Files
import Images
import Items
import PropertyList
import Scripting

/// A folder of pictures that an import attaches to items.
struct PictureFolder: Sendable {
    private let path: String
    private let layer: FencedFileLayer
    private let limits: ImageLimits

    init(_ path: String, in host: ScriptHost) {
        (self.path, layer, limits) = (path, host.fence.layer, host.images.limits)
    }

    /// Attaches pictures to their items. They are read and encoded on all processors, each item's together.
    ///
    /// - Parameters:
    ///   - pictures: the files of each item.
    ///   - store: the items' store, in a transaction.
    ///   - options: what happens with a picture that cannot be read: an error, or it is left out.
    ///   - progress: called with the number of finished items.
    /// - Returns: the number of pictures that items got, and those that could not be read, with the reasons.
    /// - Throws: `StoreError` with `unreadableFile` for a picture that cannot be read; errors of the store and of
    ///   `progress`.
    func attach(
        _ pictures: ImportedPictures, to store: ItemStore, _ options: ItemFileOptions,
        progress: (Int) throws -> Void
    ) throws -> (count: Int, failures: [String]) {
        let assignments = pictures.assignments
        var (count, failures): (Int, [String]) = (0, [])
        try ParallelWork.forEach(assignments.count) { number in
            ImageLibrary.concurrently { assignments[number].names.map(read) }
        } consume: { number, results in
            let assignment = assignments[number]
            var bytes: [[UInt8]] = []
            for (name, result) in zip(assignment.names, results) {
                switch result {
                case .success(let picture): bytes.append(picture)
                case .failure(let error):
                    let file = PathText.join(path, name)
                    let message = error.path == nil ? "\(file): \(error.message)" : error.message
                    let row: PropertyListFields = ["picture": .string(file)]
                    guard try options.skipsRow?(row, 0, message) == true else {
                        throw StoreError(.unreadableFile, message, path: file, cause: error)
                    }
                    failures.append(message)
                }
            }
            count += try ImportedPictures.set(bytes, of: assignment.row, in: store)
            try progress(number + 1)
        }
        return (count, failures)
    }

    /// The file that the store keeps of a picture.
    private func read(_ name: String) -> Result<[UInt8], ImageError> {
        let file = PathText.join(path, name)
        do throws(ImageError) {
            return .success(try ImageStore.jpeg(try BitmapImage.open(file, limits: limits, using: layer)))
        } catch {
            return .failure(error)
        }
    }
}
