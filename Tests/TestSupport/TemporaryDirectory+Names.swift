extension TemporaryDirectory {
    /// The names in a folder, none when it cannot be read.
    package func names(_ folder: String = "") -> [String] { (try? contents(of: folder)) ?? [] }
}
