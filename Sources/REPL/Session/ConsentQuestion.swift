import Application
import Files
import Scripting

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
