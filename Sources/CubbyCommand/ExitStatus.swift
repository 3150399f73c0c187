import Files
import Items
import Lua
import PredicateFormat
import Scripting

/// The program's exit statuses, described in docs/exit-status.md.
enum ExitStatus: Int32 {
    case done = 0
    /// A script's error, or a failure of its handlers and timers.
    case scriptError = 1
    case usage = 64
    case badData = 65
    case unavailable = 69
    /// A stop was overdue in the host's own code.
    case software = 70
    case inputOutput = 74
    case containerInUse = 75
    case interrupted = 130

    /// The exit status of a failed import or export, by its cause: the command line, the data or the disk.
    static func ofExchange(_ error: LuaError) -> ExitStatus {
        switch error.underlying {
        case let error as StoreError:
            switch error.code {
            case .unreadableFile, .invalidRow: .badData
            case .inputOutput: .inputOutput
            default: error.code.isProgrammerError ? .usage : .scriptError
            }
        case is FileError: .inputOutput
        case is FormatPredicateError: .usage
        default: error.kind == .argument ? .usage : .scriptError
        }
    }

    /// The exit status of a session whose host has ended.
    ///
    /// - Parameters:
    ///   - host: the ended host.
    ///   - script: the script's status.
    ///   - isStrict: `--strict` or `--no-strict`; nil for neither.
    ///   - isWatched: whether a user at a prompt has seen the failures.
    /// - Returns: the status.
    static func ofSession(_ host: ScriptHost, script: Int32, isStrict: Bool?, isWatched: Bool) -> Int32 {
        var status = host.exitCode ?? script
        if status == scriptError.rawValue, host.hasRefusedChangedProgram { status = usage.rawValue }
        let hasLostSave = host.saveFailure != nil
        let hasFailures = host.handlerFailureCount > 0
        let hasLostOutput = LostOutput.report(host)
        switch isStrict {
        case false?: return status
        case true?:
            if hasLostSave { return scriptError.rawValue }
            let hasFailed = hasFailures || hasLostOutput || host.hasSkippedInitScript
            return status == done.rawValue && hasFailed ? scriptError.rawValue : status
        case nil:
            if hasLostSave { return inputOutput.rawValue }
            let isExpected = isWatched || host.wasEndedBySystem
            if status == done.rawValue, hasFailures, !isExpected { return scriptError.rawValue }
            return status == done.rawValue && hasLostOutput ? inputOutput.rawValue : status
        }
    }
}
