import LineEditor
import Lua
import Scripting

/// A prompt on a host, whose terminal is the host's own or that of `cubby attach`. Entries, commands and their output
/// are the same at both.
protocol Prompt: PromptOutput, PromptFrontEnd {
    var host: ScriptHost { get }
    var evaluator: Evaluator { get }
    var printer: ValuePrinter { get set }
    /// The settings of its display.
    var settings: PromptSettings { get }
    var functions: FunctionTexts { get }
    var record: SessionRecord { get set }
    var tutorial: Tutorial? { get set }
    /// Whether every entry's duration is shown.
    var showsTime: Bool { get set }
    /// Seconds of waiting for answers to questions; an entry's duration excludes them.
    var secondsOfQuestions: Double { get set }
    /// The changes committed since the entry began.
    var changes: ChangeNotice { get set }
    /// Whether the changes of an entry are shown below its result.
    var tellsChanges: Bool { get }
    /// The number of failures of handlers and timers already seen.
    var seenFailures: Int { get set }
    /// Whether lines are edited.
    var isEditing: Bool { get }

    /// The terminal's environment variable.
    func environment(_ name: String) -> String?
    /// Runs a function.
    ///
    /// - Parameters:
    ///   - function: a function without parameters.
    ///   - isEntry: whether the user typed it.
    ///   - completion: called once at its end, possibly before this returns.
    func run(
        _ function: LuaFunction, isEntry: Bool, completion: @escaping (Result<[LuaValue], LuaError>) -> Void)
    /// Sends a request to the terminal's side.
    func request(_ request: TerminalRequest, then: @escaping (TerminalAnswer) -> Void)
    func leave()
}

extension Prompt {
    /// Whether the session has a variable.
    func isDefined(_ name: String) -> Bool {
        !host.state.globals[name].isNil || !evaluator.scope.locals[name].isNil
    }

    /// The completer of this session's text.
    var completer: Completer { Completer(host: host, locals: evaluator.scope.locals, functions: functions) }
}
