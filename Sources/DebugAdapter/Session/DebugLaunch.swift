import PropertyList

/// What a client wants to be run.
package struct DebugLaunch: Sendable {
    /// The script.
    package let program: String
    /// Its arguments.
    package let arguments: [String]
    /// The folder from which it runs; nil for this one.
    package let workingDirectory: String?
    /// Words of the command line for the host; nil for those that were given there.
    package let options: [String]?
    let stopsOnEntry: Bool
    /// Whether it runs without a debugger.
    let isPlain: Bool

    /// Reads the arguments of `launch`; what they do not say, the command line has said.
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
