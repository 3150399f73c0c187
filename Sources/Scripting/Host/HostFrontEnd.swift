public import Application
public import Images
package import Lua

/// The user interface of a host: a REPL, or standard output alone.
public protocol HostFrontEnd: AnyObject {
    /// Called before the process stops: restores the terminal.
    func applicationWillStop()
    /// Called when the process has the terminal again.
    func applicationDidEnterForeground()
    /// Called when the process continues without the terminal.
    func applicationWillEnterBackground()
    /// Called before the application ends, before its last save.
    func applicationWillTerminate()
    /// Writes text for standard output or standard error; returns false to let the host write it.
    func write(_ bytes: [UInt8], toStandardError: Bool) -> Bool
    /// Whether scripts' output goes to a terminal.
    var isTerminal: Bool { get }
    /// Draws a picture.
    func show(_ image: Image)
    /// Shows the text of `help`; returns false to let the host print it.
    func show(help text: String) -> Bool
    /// Asks the user whether scripts may read or write a path outside the container.
    func consent(to access: PathConsent.Access, path: String) -> PathConsent
    /// Asks the user whether scripts may start a program whose file has changed since it was granted.
    func consent(toChanged program: ProgramGrant) -> Bool
}

extension HostFrontEnd {
    public func applicationWillStop() {}
    public func applicationDidEnterForeground() {}
    public func applicationWillEnterBackground() {}
    public func applicationWillTerminate() {}
    public func write(_ bytes: [UInt8], toStandardError: Bool) -> Bool { false }
    public var isTerminal: Bool { ScriptOutput.isOwnTerminal }
    public func show(_ image: Image) {}
    public func show(help text: String) -> Bool { false }
    public func consent(to access: PathConsent.Access, path: String) -> PathConsent { .no }
    public func consent(toChanged program: ProgramGrant) -> Bool { false }
}

/// A front end with a prompt, which formats values for its screen.
package protocol PromptFrontEnd: HostFrontEnd {
    /// The width of the screen, to which tables are truncated.
    var screenColumns: Int { get }
    /// The text of a table, for `print` in an entry.
    func describe(_ table: LuaTable) -> String
    /// The help on a value without a declaration, such as a script's own function; `help` tries it first.
    func help(onUnknown value: LuaValue) -> String?
    /// Shows values whole, however long.
    func show(whole values: [LuaValue])
}

/// The user's answer when a script requests a path outside the container.
public enum PathConsent: Sendable {
    /// The access that a script requests.
    public enum Access: String, Sendable {
        /// To read it.
        case reading
        /// To write to it.
        case writing
    }

    /// Allowed, for this path.
    case yes
    /// Allowed, for its whole folder.
    case folder
    /// Refused.
    case no

    /// Parses an answer: the word or its first letter, in any case; nil for other input.
    package init?(answer: String) {
        let words = answer.lowercased().split(whereSeparator: \.isWhitespace)
        switch words.count == 1 ? words[0] : "" {
        case "y", "yes": self = .yes
        case "f", "folder": self = .folder
        case "n", "no": self = .no
        default: return nil
        }
    }
}
