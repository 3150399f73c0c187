extension TemporaryDirectory {
    /// Writes a program that can be started at once, making the folders on the way to it.
    ///
    /// Another process writes the file. A descriptor of this one could be inherited by a child that another test forks at
    /// the same moment, and the kernel starts no file that is open for writing (ETXTBSY).
    ///
    /// - Returns: the program's path.
    @discardableResult
    package func writeProgram(_ text: String, to name: String) throws -> String {
        let path = file(name)
        let output = try run("install", ["-D", "-m", "755", "/dev/stdin", path], input: text)
        guard output.status == .exited(0) else { throw TestFailure("cannot write \(path): \(output.stderr)") }
        return path
    }
}
