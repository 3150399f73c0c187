import CommandTestSupport
import TestSupport
import Testing

/// A conversation with a prompt in a terminal: a row of its checklist, which the host's prompt and attached ones share.
struct PromptRow: Sendable, CustomTestStringConvertible {
    enum Step: Sendable {
        /// Types a text and Return.
        case enter(String)
        /// Types keys as they are.
        case keys(String)
        /// Waits for a text that was not there before.
        case see(String)
        /// Waits for the prompt.
        case prompt
        /// Makes the window another size.
        case resize(UInt16, UInt16)
    }

    let name: String
    let steps: [Step]
    var environment: [String: String] = [:]
    var arguments: [String] = []
    var testDescription: String { name }

    init(_ name: String, _ steps: [Step], environment: [String: String] = [:], arguments: [String] = []) {
        self.name = name
        self.steps = steps
        self.environment = environment
        self.arguments = arguments
    }

    /// A terminal of the size that the steps expect.
    func terminal(of program: Program, _ arguments: [String]) throws -> PseudoTerminal {
        try program.terminal(arguments, columns: 110, rows: 40, environment: environment.mapValues { $0 })
    }

    func perform(at terminal: PseudoTerminal) throws {
        for step in steps {
            switch step {
            case .enter(let text): try terminal.sendLine(text)
            case .keys(let text): try terminal.send(text)
            case .see(let text): try terminal.expect(text)
            case .prompt: try terminal.expect("> ")
            case .resize(let columns, let rows): terminal.resize(columns: columns, rows: rows)
            }
        }
    }
}
