import Application
import Glibc
import Images
import Items
import LineEditor
import Lua
import Scripting

/// A session at a prompt: entries and commands, their results, and the tutorial. It is the same whatever its terminal
/// is: the host's own, that of `cubby attach`, or a test's screen.
final class PromptSession: PromptOutput {
    let host: ScriptHost
    /// The terminal owns the session. What runs holds it: the end of an entry is the terminal's.
    unowned let terminal: any PromptTerminal
    let evaluator: Evaluator
    let functions: FunctionTexts
    var printer: ValuePrinter
    /// The settings of its display.
    var settings: PromptSettings
    var record = SessionRecord()
    var tutorial: Tutorial?
    var times = EntryTimes()
    /// The changes committed since the entry began.
    var changes = ChangeNotice()
    /// The number of failures of handlers and timers already seen.
    var seenFailures = 0
    /// The message of the entry's first failure, as it was before its lines were wrapped, empty where it has none; nil
    /// without a failure.
    var failure: String?
    var hasFailed: Bool {
        get { failure != nil }
        set { failure = newValue ? failure ?? "" : nil }
    }

    /// - Parameters:
    ///   - host: the host of the entries.
    ///   - terminal: outlives the session.
    ///   - settings: the settings of its display.
    init(_ host: ScriptHost, on terminal: any PromptTerminal, settings: PromptSettings) {
        self.host = host
        self.terminal = terminal
        self.settings = settings
        evaluator = Evaluator(host)
        functions = FunctionTexts(host)
        printer = ValuePrinter(host)
        printer.palette = { [unowned terminal] in terminal.palette }
    }
}

extension PromptSession {
    func recordFailure(_ message: String) {
        if failure?.isEmpty ?? true { failure = message }
    }

    var palette: TerminalPalette { terminal.palette }
    var screenColumns: Int { printer.columns }

    func draw(_ text: String, toStandardError: Bool) { terminal.draw(text, toStandardError: toStandardError) }

    func page(_ printed: PrintedValues) {
        terminal.page(printed)
        if let failure = printed.failure { complain(failure) }
    }

    /// Draws a picture.
    func show(_ image: BitmapImage) { draw(printer.picture(image) + "\n", toStandardError: false) }

    /// Shows a text of help, wrapped at words.
    func show(help text: String) { page(WrappedText.wrapped(text, to: printer.columns)) }

    /// Shows values whole, however long.
    func show(whole values: [LuaValue]) { page(printer.whole(values)) }

    /// The text of a table, for `print` in an entry.
    func describe(_ table: LuaTable) -> String { printer.describe(.table(table)) }

    /// The help on a value without a declaration.
    func help(onUnknown value: LuaValue) -> String? {
        HelpText(host, functions).ofUndeclared(value, locals: evaluator.scope.locals)
    }

    /// Whether the session has a variable.
    func isDefined(_ name: String) -> Bool { evaluator.isDefined(name) }

    /// The completer of this session's text.
    var completer: Completer { Completer(host: host, locals: evaluator.scope.locals, functions: functions) }
}

/// What counts as an entry's duration.
struct EntryTimes {
    /// Whether every entry's duration is shown.
    var areShown = false
    /// Seconds of waiting for answers to questions; an entry's duration excludes them.
    var secondsOfQuestions = 0.0
}

/// The terminal of a session, as far as entries and their output need it: the host's own, the peer of `cubby attach`,
/// or a test's screen. It is the host's front end while an entry runs.
protocol PromptTerminal: PromptFrontEnd {
    var session: PromptSession { get }
    var palette: TerminalPalette { get }
    /// Whether lines are edited.
    var isEditing: Bool { get }
    /// Whether the changes of an entry are shown below its result.
    var reportsChanges: Bool { get }
    /// The debugger's prompt; nil where breaks are not shown.
    var breaks: PromptDebugger? { get }

    /// The terminal's environment variable.
    func environment(_ name: String) -> String?
    /// Writes preformatted text: values from the printer, with pictures.
    func draw(_ text: String, toStandardError: Bool)
    /// Shows values from the printer, paged if longer than the screen.
    func page(_ printed: PrintedValues)
    /// Runs a function.
    ///
    /// - Parameters:
    ///   - function: a function without parameters.
    ///   - isEntry: whether the user typed it.
    ///   - completion: called once at its end, possibly before this returns.
    func run(
        _ function: LuaFunction, isEntry: Bool, completion: @escaping (Result<[LuaValue], LuaError>) -> Void)
    /// Sends a request to the side that has the user's files, editor, history and answers.
    func request(_ request: TerminalRequest, then: @escaping (TerminalAnswer) -> Void)
    func leave()
}

/// The front end of a session's code.
extension PromptTerminal {
    var breaks: PromptDebugger? { nil }
    var screenColumns: Int { session.printer.columns }

    func show(_ image: BitmapImage) { session.show(image) }

    func show(help text: String) -> Bool {
        session.show(help: text)
        return true
    }

    func describe(_ table: LuaTable) -> String { session.describe(table) }

    func help(onUnknown value: LuaValue) -> String? { session.help(onUnknown: value) }

    func show(whole values: [LuaValue]) { session.show(whole: values) }
}

/// The output of a prompt.
protocol PromptOutput: AnyObject {
    var palette: TerminalPalette { get }
    /// The width of the screen.
    var screenColumns: Int { get }
    /// Whether the entry has failed.
    var hasFailed: Bool { get set }
    /// Records a failure of the entry, with its message.
    func recordFailure(_ message: String)
    /// Writes preformatted text: values from the printer, with pictures.
    func draw(_ text: String, toStandardError: Bool)
    /// Shows values from the printer, paged if longer than the screen.
    func page(_ printed: PrintedValues)
}

extension PromptOutput {
    func recordFailure(_ message: String) { hasFailed = true }

    /// Prints styled text, with data escaped.
    func print(_ text: StyledText, toStandardError: Bool = false) {
        let escaped = text.pieces.map { StyledText.Piece(VisibleText.escaped($0.text), $0.style) }
        draw(palette.apply(to: StyledText(escaped)), toStandardError: toStandardError)
    }

    func print(_ text: String, toStandardError: Bool = false) {
        print(StyledText(text), toStandardError: toStandardError)
    }

    /// Reports that an entry has failed. The message is wrapped at words.
    func complain(_ text: String) {
        recordFailure(text)
        let text = WrappedText.wrapped(text, to: screenColumns)
        print(StyledText([.init(text, .error), .init("\n", .plain)]), toStandardError: true)
    }

    /// Prints a text, paged if longer than the screen, with data escaped.
    func page(_ text: String) { page(PrintedValues(VisibleText.escaped(text))) }
}

/// The prompts: `_PROMPT` and `_PROMPT2`, strings or functions, as in Lua's own prompt.
struct PromptText {
    let host: ScriptHost
    static let standard = "> "
    static let continuation = "… "

    /// The prompt of an entry.
    ///
    /// - Parameter errors: the number of unseen failures of handlers and timers.
    /// - Returns: the prompt, with that number unless it is 0.
    func prompt(errors: Int) -> StyledText {
        var text = StyledText()
        if errors > 0 { text.append("!\(errors) ", .warning) }
        text.append(custom("_PROMPT") ?? Self.standard, .prompt)
        return text
    }

    /// The prompt of an entry's further lines.
    func continuation() -> StyledText {
        StyledText(custom("_PROMPT2") ?? Self.continuation, .continuationPrompt)
    }

    private func custom(_ name: String) -> String? {
        switch host.state.globals[name] {
        case .string(let text): return shown(text.description)
        case .function(let function):
            guard case .success(let values) = host.run(function), let first = values.first else { return nil }
            return shown(host.state.describe(first).description)
        default: return nil
        }
    }

    /// The text without control characters, which would move the cursor unknown to the editor.
    private func shown(_ text: String) -> String {
        let visible = text.unicodeScalars.filter { !VisibleText.isHidden($0) }
        return String(String.UnicodeScalarView(visible.prefix(200)))
    }
}

/// The functions that exist only at prompts.
enum PromptFunctions {
    /// Defines `full(x)`.
    static func install(in host: ScriptHost) {
        let declaration = LuaFunctionDeclaration(
            "full", [LuaParameter("value", .any, "the value to show")],
            doc: "Shows a value in full; the prompt shortens the results that it prints.",
            example: "full(app:hooks())")
        host.state.setGlobal(declaration) { [unowned host] call in
            host.activePrompt?.show(whole: call.allValues)
            return call.returnsNothing()
        }
    }
}

/// The lines of the greeting.
enum Banner {
    static func text(_ host: ScriptHost) -> String {
        """
        Cubby \(CubbyVersion.string) · Lua 5.4 · container \(host.container.title) · \(host.items.count.counted("item")) · sandbox: \(host.sandboxDescription)\(host.options.isReadOnly ? " · read-only" : "")
        Type :help or :tutorial, Ctrl-Z to go to the background, Ctrl-D to leave.

        """
    }

    /// The greeting of a notebook.
    static func notebook(_ host: ScriptHost) -> String {
        """
        Cubby \(CubbyVersion.string) · Lua 5.4 · container \(host.container.title) · \(host.items.count.counted("item")) · sandbox: \(host.sandboxDescription)
        :help lists the commands, %%sql in a cell's first line makes it SQL.
        """
    }

    /// The greeting of a prompt attached to a running host.
    static func attached(_ host: ScriptHost) -> String {
        """
        Attached to \(host.options.applicationName), process \(getpid()), in \(host.container.title) · \(host.items.count.counted("item")) · \(host.applicationState.rawValue) · sandbox: \(host.sandboxDescription)
        Ctrl-D leaves; the host goes on.

        """
    }
}
