/// What was under a key before a change, or after it while the change is taken back.
struct ReplacedImage {
    let key: String
    /// The picture's file, out of the store; nil when there was no picture.
    var path: String?
    /// The file's size.
    var byteCount = 0
}
