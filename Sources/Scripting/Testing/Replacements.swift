import Files
import Glibc
package import Lua
package import Wording

/// What takes the place of programs and of the network for a host under test.
package final class Replacements {
    /// Functions in place of programs, by name.
    package var programs: NameTable<LuaFunction> = [:]
    /// Answers requests in place of their servers; nil for the network. It gets a table with `method`, `url`, `headers` and
    /// `body`, and returns one with `status`, `headers` and `body`, or nil and the text of a failure.
    package var http: LuaFunction?
    /// Its clock, its tests and its faults; nil for a host that is not under test.
    package var scene: TestScene?

    /// The replacement of the program that a command starts; nil for none.
    func program(of command: String, for function: String) -> ReplacedProgram? {
        guard !programs.isEmpty, let word = command.split(whereSeparator: \.isWhitespace).first else { return nil }
        let name = String(word)
        guard let body = programs[name] ?? programs[PathText.name(of: name)] else { return nil }
        if let words = try? CommandWords.split(command, for: function) {
            return ReplacedProgram(body: body, arguments: Array(words.dropFirst()))
        }
        // A shell would read it.
        let rest = command.drop(while: \.isWhitespace).dropFirst(name.count).drop(while: \.isWhitespace)
        return ReplacedProgram(body: body, arguments: [String(rest)])
    }
}

/// A call of a function in place of a program.
struct ReplacedProgram {
    let body: LuaFunction
    let arguments: [String]

    /// What the program has written, and its exit status.
    struct End {
        var output: [UInt8] = []
        var status: Int32 = 0
    }

    /// Calls the function: with the arguments, and what reads the program's input.
    ///
    /// - Throws: the function's error; ``LuaError`` for results of other kinds.
    func run(_ state: LuaState, input: LuaValue = .nil) throws(LuaError) -> End {
        let words = state.makeTable(array: arguments.count)
        for (index, word) in arguments.enumerated() { words[index + 1] = .text(word) }
        let results = try body.call(.table(words), input)
        var end = End()
        for (index, result) in results.prefix(2).enumerated() {
            switch result {
            case .nil where index == 0, .boolean(true) where index == 0: break
            case .boolean(false) where index == 0: end.status = 1
            case .string(let text) where index == 0: end.output = text.bytes
            case .integer(let status) where (0...255).contains(status): end.status = Int32(status)
            default:
                let place = body.place
                throw LuaError(
                    .runtime,
                    "\(place.source):\(place.line): a replaced program gives its output or nil, and an exit status from 0 to 255"
                )
            }
        }
        return end
    }
}

/// The bytes between a script and a replaced program, in a file without a name.
struct ReplacedPipe {
    let descriptor: Int32

    init(descriptor: Int32) { self.descriptor = descriptor }

    /// - Parameter folder: a folder for temporary files.
    /// - Throws: `FileError`.
    init(in folder: String) throws(FileError) {
        var template = Array(PathText.join(folder, "pipe-XXXXXX").utf8CString)
        descriptor = mkstemp(&template)
        guard descriptor >= 0 else { throw FileError(.open, "a pipe", code: errno) }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        unlink(template)
    }

    func write(_ bytes: [UInt8]) throws(FileError) {
        let file = OpenFile(descriptor: descriptor, path: "a pipe")
        try PosixFileLayer().writeAll(bytes.span.bytes, to: file, at: 0)
    }

    /// All that was written so far.
    func contents() throws(FileError) -> [UInt8] {
        let (file, layer) = (OpenFile(descriptor: descriptor, path: "a pipe"), PosixFileLayer())
        let size = try layer.status(file).size
        return try [UInt8](unsafeUninitializedCapacity: size) { (buffer, count) throws(FileError) in
            while count < size {
                let rest = UnsafeMutableRawBufferPointer(UnsafeMutableBufferPointer(rebasing: buffer[count...]))
                let part = try layer.read(file, at: count, into: rest)
                if part == 0 { break }
                count += part
            }
        }
    }
}
