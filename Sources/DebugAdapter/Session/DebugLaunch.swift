import PropertyList

/// A client's launch configuration.
package struct DebugLaunch: Sendable {
    /// The script.
    package let program: String
    /// Its arguments.
    package let arguments: [String]
    /// The working directory; nil for the current one.
    package let workingDirectory: String?
    /// Command-line options for the host; nil for those of this process's command line.
    package let options: [String]?
    let stopsOnEntry: Bool
    /// Whether it runs without a debugger.
    let isPlain: Bool

    /// Reads the arguments of `launch`; the command line supplies missing ones.
    init(_ fields: JSONValue, program: String?, arguments: [String]) throws(DebugRefusal) {
        guard let program = fields["program"]?.text ?? program, !program.isEmpty else {
            throw DebugRefusal("there is no program: launch takes \"program\", the path of a script")
        }
        self.program = program
        self.arguments = try Self.words(fields, "args") ?? arguments
        workingDirectory = fields["cwd"]?.text
        options = try Self.words(fields, "options")
        stopsOnEntry = fields["stopOnEntry"]?.flag ?? false
        isPlain = fields["noDebug"]?.flag ?? false
    }

    private static func words(_ fields: JSONValue, _ name: String) throws(DebugRefusal) -> [String]? {
        guard let value = fields[name] else { return nil }
        let words = value.elements?.compactMap(\.text) ?? []
        guard let count = value.elements?.count, words.count == count else {
            throw DebugRefusal("\"\(name)\" is an array of strings")
        }
        return words
    }
}
