package import Application
package import Files
package import Items

extension ItemSchema {
    /// The fields of a container's items: those of a household, or none but their key, for a container with declared
    /// fields alone (`cubby fields --only`).
    ///
    /// - Parameter container: a container, which need not exist.
    /// - Throws: `FileError` when its format cannot be read.
    package init(of container: ApplicationContainer) throws(FileError) {
        self = try ContainerFormat.hasOwnFields(container) ? ItemSchema() : .household
    }
}
