import Logging
import Stores

/// An item's image goes and comes back with the item.
extension ScriptHost {
    /// Takes out the images of items whose removal is committed; an item that a rollback brought back keeps its own.
    func removeImagesOfRemovedItems() {
        guard !removedKeys.isEmpty, !items.isInTransaction else { return }
        let keys = images.keysOfImages(among: removedKeys)
        removedKeys = []
        for key in keys where items.item(forKey: key) == nil {
            do throws(ImageError) {
                try images.setAside(forKey: key)
                imagesAside.insert(key)
            } catch {
                logger.warning("\(error.message)")
            }
        }
    }

    /// Undoes or redoes, images included.
    func changeHistory(_ change: (_ removed: (String) -> Void) throws -> Bool) throws -> Bool {
        try items.tellingCommitsAtEnd {
            guard try change({ removedKeys.insert($0) }) else { return false }
            for key in imagesAside where items.item(forKey: key) != nil {
                imagesAside.remove(key)
                do throws(ImageError) { try images.bringBack(forKey: key) } catch {
                    logger.warning("\(error.message)")
                }
            }
            removeImagesOfRemovedItems()
            return true
        }
    }
}
