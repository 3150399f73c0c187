import Application
import Files
import Glibc
import LineEditor
import PropertyList
import Scripting

/// A command's request to the terminal's side, which has the user's files, editor, history and answers.
struct TerminalRequest: Equatable {
    enum Kind: String {
        /// Asks the question `text`, which is answered with yes or no.
        case confirm
        /// Opens `text` in the user's editor, for the next entry.
        case edit
        /// Writes `text`, a script of `count` entries, to the file of `argument`.
        case save
        /// Reads the file of `argument`.
        case load
        /// Applies `argument` to the history of earlier sessions, or searches it.
        case history
    }

    var kind: Kind
    var argument = ""
    var text = ""
    var count = 0
}

/// The result of a request.
struct TerminalAnswer: Equatable {
    /// Whether the request succeeded, or the question was answered with yes. The terminal's side reports failures.
    var isDone: Bool
    /// A file's text.
    var text = ""
}

/// The encoding for another process.
extension TerminalRequest {
    init?(json bytes: [UInt8]) {
        guard let fields = PropertyListFields(json: bytes), let kind = Kind(exactly: fields.string("kind")) else {
            return nil
        }
        self.init(
            kind: kind, argument: fields.string("argument"), text: fields.string("text"), count: fields.integer("count")
        )
    }

    var json: [UInt8] {
        JSONValue.of(["kind": kind.rawValue, "argument": argument, "text": text, "count": count]).encoded
    }
}

extension TerminalAnswer {
    /// Malformed bytes are an error.
    init(json bytes: [UInt8]) {
        let fields = PropertyListFields(json: bytes)
        self.init(isDone: fields?.flag("isDone") ?? false, text: fields?.string("text") ?? "")
    }

    var json: [UInt8] { JSONValue.of(["isDone": isDone, "text": text]).encoded }
}

/// Performs requests on the terminal's side.
extension Console {
    /// Performs a request, and reports a failure.
    func perform(_ request: TerminalRequest) -> TerminalAnswer {
        owner.hasFailed = false
        var answer = TerminalAnswer(isDone: true)
        switch request.kind {
        case .confirm: answer.isDone = isConfirmed(request.text)
        case .edit: edit(request.text)
        case .save: save(request)
        case .load: answer.text = load(request.argument)
        case .history: history(request.argument)
        }
        if owner.hasFailed { answer.isDone = false }
        return answer
    }

    /// There is nobody to ask if the input is not a terminal: the answer is yes.
    private func isConfirmed(_ question: String) -> Bool {
        !isInputTerminal || (ask(VisibleText.line(question), Bool.init(answer:)) ?? false)
    }

    private func edit(_ entry: String) {
        guard lines.isEditing else { return owner.complain(":edit needs a terminal") }
        let (folder, layer) = scratch
        let path = PathText.join(folder, "entry-\(getpid()).lua")
        do { try AtomicFile.write(Array(entry.utf8), to: path, using: layer) } catch {
            return owner.complain(error.message)
        }
        defer { try? layer.remove(path) }
        let program =
            [ProcessEnvironment.value("VISUAL"), ProcessEnvironment.value("EDITOR")].compactMap { $0 }
            .first { !$0.isEmpty } ?? "vi"
        owner.lendTerminal()
        defer { owner.takeTerminalBack() }
        guard let child = try? ChildProcess(["/bin/sh", "-c", program + " \"$1\"", "sh", path]) else {
            return owner.complain("\(program) could not be started")
        }
        var end: ChildProcess.End?
        while end == nil {
            // Signals and timers are served meanwhile.
            loop.runOnce(timeout: 0.03)
            end = child.end(waits: false)
        }
        switch end {
        case .exited(0): break
        case .signaled(let signal):
            return owner.complain("\(program) was ended by signal \(signal): the entry is as it was")
        case .exited(let status):
            return owner.complain("\(program) ended with status \(status): the entry is as it was")
        case .unknown:
            return owner.complain("whether \(program) succeeded is not known: the entry is as it was")
        case nil: return
        }
        guard let bytes = try? layer.contents(of: path, limit: 16 << 20) else { return }
        var text = String(decoding: bytes, as: UTF8.self)
        while text.last?.isNewline ?? false { text.removeLast() }
        nextText = text
    }

    private func save(_ request: TerminalRequest) {
        let force = request.argument.hasPrefix("-f ")
        let name = force ? request.argument.dropFirst(3).trimmed : request.argument
        guard !name.isEmpty else { return owner.complain(":save needs a file's name") }
        let path = expanded(name)
        guard force || !PosixFileLayer().exists(path) else {
            return owner.complain("\(name) is there already; :save -f \(name) replaces it")
        }
        do {
            try FileTarget.write(Array(request.text.utf8), to: path, reachesStreams: true)
            owner.print("\(request.count.counted("entry")) saved to \(name)\n")
        } catch { owner.complain(error.message) }
    }

    private func load(_ name: String) -> String {
        guard !name.isEmpty else {
            owner.complain(":load needs a file's name")
            return ""
        }
        do {
            return String(decoding: try PosixFileLayer().contents(of: expanded(name), limit: 64 << 20), as: UTF8.self)
        } catch {
            owner.complain(error.message)
            return ""
        }
    }

    private func expanded(_ name: String) -> String {
        guard name.hasPrefix("~/"), let home = ProcessEnvironment.value("HOME") else { return name }
        return home + name.dropFirst()
    }

    private func history(_ argument: String) {
        switch argument {
        case "on", "off":
            lines.editor.history.isRecording = argument == "on"
            owner.print(argument == "on" ? "entries are kept again\n" : "private: entries are kept nowhere\n")
        case "clear":
            lines.editor.history.removeAll()
            do {
                try historyFile.rewrite(lines.editor.history)
                owner.print("the history is empty\n")
            } catch { owner.complain(error.description) }
        default:
            let found = lines.editor.history.entries.filter { argument.isEmpty || $0.contains(argument) }
            owner.page(found.suffix(1000).map { $0 + "\n" }.joined())
        }
    }
}

/// The questions that a user is asked on behalf of scripts.
enum ConsentQuestion {
    static func text(_ access: PathConsent.Access, _ path: String) -> String {
        let verb = access == .reading ? "Allow reading" : "Allow writing"
        // A line break in a path must not end the question.
        return "\(verb) \(place(path))? [y]es, its whole [f]older, [n]o: "
    }

    static func text(changed program: ProgramGrant) -> String {
        "\(place(program.path)) has changed since it was granted. Approve it as it is now? [y]es, [n]o: "
    }

    static func text(_ endpoint: NetworkEndpoint) -> String {
        let place = VisibleText.line("\(endpoint)")
        return
            "Allow connecting to \(place), and programs of scripts to port \(endpoint.port) of any host? [y]es, [n]o: "
    }

    private static func place(_ path: String) -> String { VisibleText.line(DisplayPath.abbreviate(path)) }
}

extension Bool {
    /// The answer to a question of yes or no; nil for other input.
    init?(answer: String) {
        switch PathConsent(answer: answer) {
        case .yes: self = true
        case .no: self = false
        case .folder, nil: return nil
        }
    }
}

extension PromptSession {
    /// Asks the user. An entry's duration excludes the time of an answer.
    func asking<Answer>(_ ask: () -> Answer) -> Answer {
        let start = MonotonicTime.now()
        defer { times.secondsOfQuestions += MonotonicTime.now().seconds(since: start) }
        return ask()
    }
}
