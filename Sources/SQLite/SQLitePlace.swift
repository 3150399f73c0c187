/// Where a database's file is: a name in an open folder.
package struct SQLitePlace {
    /// Names it in messages; the last component is its name in the folder.
    package let path: String
    /// A descriptor of its open folder.
    package let folder: Int32
    /// A descriptor of the folder for temporary files. Who opens the database closes both.
    package let temporaryFolder: Int32

    package init(path: String, folder: Int32, temporaryFolder: Int32) {
        (self.path, self.folder, self.temporaryFolder) = (path, folder, temporaryFolder)
    }
}
