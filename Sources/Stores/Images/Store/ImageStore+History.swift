import Files
import Logging

/// Pictures that another has replaced, or that were deleted, and that an undo brings back. They are among the caches as
/// long as the history reaches to them, and until the next launch at most; where the caches were purged, the picture that
/// is there stays.
extension ImageStore {
    /// Where they are.
    var replacedDirectory: String { PathText.join(PathText.parent(of: thumbnailDirectory), "Replaced Images") }

    /// Keeps what is under a key, which stays there: at each moment there is one or the other.
    ///
    /// - Returns: the change's number; nil when it is not to be kept or cannot be.
    func keepCopy(forKey key: String, isKept: Bool) -> UInt32? {
        guard isKept else { return nil }
        return keep(key) { [self] (place, path) throws(FileError) in try copy(place, to: path) }
    }

    /// A second name for a picture's file costs nothing, and is as good as a copy: the file itself never changes, for what
    /// replaces it is another one under its name. A file system without such names gets a copy.
    private func copy(_ place: String, to path: String) throws(FileError) {
        do throws(FileError) {
            try layer.link(place, to: path)
        } catch {
            try AtomicFile.write(layer.contents(of: place), to: path, using: layer, durable: false)
        }
    }

    /// Removes the picture under a key from the folder; that there is none is no error, and no change.
    ///
    /// - Throws: `ImageError` when the file cannot be removed; it is where it was then.
    func removeKeeping(forKey key: String, isKept: Bool) throws(ImageError) -> UInt32? {
        let place = PathText.join(directory, key)
        guard layer.exists(place) else { return nil }
        let number =
            !isKept ? nil : keep(key) { [self] (place, path) throws(FileError) in try layer.rename(place, to: path) }
        guard number == nil else { return number }
        do throws(FileError) {
            try layer.remove(place)
        } catch  where error.code != FileLayerCode.absent {
            throw ImageError(.unwritable, error)
        } catch {
            return nil
        }
        return nil
    }

    /// Notes that there was none.
    func keepNothing(forKey key: String, isKept: Bool) -> UInt32? {
        isKept ? number(ReplacedImage(key: key)) : nil
    }

    private func keep(_ key: String, _ move: (_ place: String, _ path: String) throws(FileError) -> Void) -> UInt32? {
        let place = PathText.join(directory, key)
        guard layer.exists(place) else { return number(ReplacedImage(key: key)) }
        let path = PathText.join(replacedDirectory, String(lastChange &+ 1))
        do throws(FileError) {
            try layer.makeDirectories(replacedDirectory)
            try move(place, path)
        } catch {
            logger.warning("an undo will not bring the picture \(key) back: \(error.message)")
            return nil
        }
        return number(ReplacedImage(key: key, path: path))
    }

    private func number(_ image: ReplacedImage) -> UInt32 {
        lastChange &+= 1
        replaced[lastChange] = image
        return lastChange
    }

    public func reverseChange(_ number: UInt32) {
        guard let image = replaced[number] else { return }
        let place = PathText.join(directory, image.key)
        let spare = PathText.join(replacedDirectory, "\(number)-other")
        let other = image.path == spare ? PathText.join(replacedDirectory, String(number)) : spare
        do throws(FileError) {
            if let path = image.path, !layer.exists(path) { return }
            let isReplaced = layer.exists(place)
            try layer.makeDirectories(replacedDirectory)
            if let path = image.path {
                if isReplaced { try copy(place, to: other) }
                try layer.rename(path, to: place)
            } else if isReplaced {
                try layer.rename(place, to: other)
            }
            replaced[number]?.path = isReplaced ? other : nil
            cache.remove(image.key)
            removeThumbnails(forKey: image.key)
            try layer.syncDirectory(directory)
        } catch {
            logger.warning("the picture \(image.key) could not be brought back: \(error.message)")
        }
    }

    public func forgetChange(_ number: UInt32) {
        guard let path = replaced.removeValue(forKey: number)?.path else { return }
        try? layer.remove(path)
    }

    /// At launch: what an earlier process kept, it took its history with it.
    func removeReplaced() {
        for name in (try? layer.list(replacedDirectory)) ?? [] {
            try? layer.remove(PathText.join(replacedDirectory, name))
        }
    }
}
