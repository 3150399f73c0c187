import Files

/// A file that is unusable but may have valuable content: it is kept under another name.
enum AsideFile {
    /// Moves a file to `<path>.aside-1`, or to the next number that is free.
    ///
    /// - Returns: the new path; nil when there is no file.
    static func move(_ path: String, using layer: any FileLayer) throws(FileError) -> String? {
        guard try layer.status(path) != nil else { return nil }
        var number = 1
        while try layer.status("\(path).aside-\(number)") != nil { number += 1 }
        try layer.rename(path, to: "\(path).aside-\(number)")
        return "\(path).aside-\(number)"
    }
}
