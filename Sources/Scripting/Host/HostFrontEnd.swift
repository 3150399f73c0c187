public import Images

/// The person's side of a host: a REPL, or nothing but standard output.
public protocol HostFrontEnd: AnyObject {
    /// The process is about to stop: the terminal goes back as it was.
    func applicationWillStop()
    /// The process has the terminal again.
    func applicationDidEnterForeground()
    /// The process runs on without the terminal.
    func applicationWillEnterBackground()
    /// Text for standard output or standard error; true when the front end has written it itself.
    func write(_ bytes: [UInt8], toStandardError: Bool) -> Bool
    /// Whether what scripts write is read on a terminal.
    var isTerminal: Bool { get }
    /// Draws a picture where the user looks.
    func show(_ image: Image)
    /// Shows what `help` has found; true when the front end has done it.
    func show(help text: String) -> Bool
    /// Asks whether scripts may read or write a path outside the container.
    func consent(to access: PathConsent.Access, path: String) -> PathConsent
}

extension HostFrontEnd {
    public func applicationWillStop() {}
    public func applicationDidEnterForeground() {}
    public func applicationWillEnterBackground() {}
    public func write(_ bytes: [UInt8], toStandardError: Bool) -> Bool { false }
    public var isTerminal: Bool { ScriptOutput.isOwnTerminal }
    public func show(_ image: Image) {}
    public func show(help text: String) -> Bool { false }
    public func consent(to access: PathConsent.Access, path: String) -> PathConsent { .no }
}

/// What a person answers when a script wants to leave the container.
public enum PathConsent: Sendable {
    public enum Access: String, Sendable { case reading, writing }

    case yes, folder, no

    /// What a person typed: the word or its first letter, in any case; nil for anything else, which is no answer.
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
