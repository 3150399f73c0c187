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
        isUnsynced = true
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
        isKept ? number(key, nil) : nil
    }

    private func keep(_ key: String, _ move: (_ place: String, _ path: String) throws(FileError) -> Void) -> UInt32? {
        let place = PathText.join(directory, key)
        guard layer.exists(place) else { return number(key, nil) }
        let path = PathText.join(replacedDirectory, String(lastChange &+ 1))
        do throws(FileError) {
            try layer.makeDirectories(replacedDirectory)
            try move(place, path)
        } catch {
            logger.warning("an undo will not bring the picture \(key) back: \(error.message)")
            return nil
        }
        return number(key, path)
    }

    /// Numbers a change.
    func number(_ key: String, _ path: String?) -> UInt32 {
        lastChange &+= 1
        replaced[lastChange] = ReplacedImage(key: key)
        setPath(path, of: lastChange)
        return lastChange
    }

    /// Notes where a change's picture is now.
    private func setPath(_ path: String?, of number: UInt32) {
        guard let key = replaced[number]?.key else { return }
        if changesAside[key] == number { changesAside[key] = nil }
        if path == PathText.join(asideDirectory, key) { changesAside[key] = number }
        replaced[number]?.path = path
        replaced[number]?.byteCount = path.flatMap { try? layer.status($0) }?.size ?? 0
    }

    /// A place out of the store for what is under a change's key now: by the key, where the item is gone.
    private func freePlace(for number: UInt32, _ image: ReplacedImage) throws(FileError) -> String {
        if keepsReplaced?(image.key) == false, changesAside[image.key] != number {
            return try freePlaceAside(forKey: image.key)
        }
        try layer.makeDirectories(replacedDirectory)
        let spare = PathText.join(replacedDirectory, "\(number)-other")
        return image.path == spare ? PathText.join(replacedDirectory, String(number)) : spare
    }

    public func reverseChange(_ number: UInt32) {
        guard let image = replaced[number] else { return }
        let place = PathText.join(directory, image.key)
        do throws(FileError) {
            if let path = image.path, !layer.exists(path) { return }
            let other = layer.exists(place) ? try freePlace(for: number, image) : nil
            isUnsynced = true
            if let path = image.path {
                if let other { try copy(place, to: other) }
                try layer.rename(path, to: place)
            } else if let other {
                try layer.rename(place, to: other)
            }
            setPath(other, of: number)
            cache.remove(image.key)
            removeThumbnails(forKey: image.key)
            synchronize()
        } catch {
            logger.warning("the picture \(image.key) could not be brought back: \(error.message)")
        }
    }

    public func forgetChange(_ number: UInt32) {
        guard let image = replaced.removeValue(forKey: number) else { return }
        if changesAside[image.key] == number { changesAside[image.key] = nil }
        if let path = image.path { try? layer.remove(path) }
    }

    public func isRepeated(_ number: UInt32) -> Bool {
        guard let key = replaced[number]?.key else { return false }
        if firstChanges[key] != nil { return true }
        firstChanges[key] = number
        return false
    }

    public func endStep() {
        if !firstChanges.isEmpty { firstChanges.removeAll() }
    }

    public func byteCount(ofChange number: UInt32) -> Int { replaced[number]?.byteCount ?? 0 }

    public func synchronize() {
        guard isUnsynced else { return }
        do throws(FileError) {
            try layer.syncDirectory(directory)
            isUnsynced = false
        } catch {
            logger.warning("\(error.message)")
        }
    }

    /// At launch: what an earlier process kept, it took its history with it.
    func removeReplaced() {
        for name in (try? layer.list(replacedDirectory)) ?? [] {
            try? layer.remove(PathText.join(replacedDirectory, name))
        }
    }
}
