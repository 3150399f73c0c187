public import Application
public import Files
import Items
public import Logging

extension ImageStore: PictureKeys {}

extension StoreCheck {
    /// Looks at everything, the pictures among it. O(bytes of the archive and the journal).
    ///
    /// - Parameters:
    ///   - container: which one.
    ///   - layer: the file system, of `Container.openExisting()`.
    ///   - logger: hears of pictures that cannot be read.
    public init(_ container: Container, using layer: any FileLayer, logger: Logger) {
        let images = ImageStore(directory: container.documents, caches: container.caches, using: layer, logger: logger)
        self.init(container, using: layer, pictures: images)
    }
}
