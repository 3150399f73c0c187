import Files
import Lua
import Scripting
import Wording

/// Messages of commands on standard output, a line each.
enum Report {
    /// Writes a line; control characters in it, from a path or an archive, are escaped.
    static func line(_ text: String) { StandardStream.output.put(VisibleText.line(text) + "\n") }
}

/// What a run could not write: said once, at its end, as one line for each stream and for the scripts' files.
enum LostOutput {
    /// Flushes the streams, says what was lost, and gives it a status.
    ///
    /// - Parameter status: the run's own.
    /// - Returns: that of failed output if the run's own is success.
    static func status(_ status: Int32) -> Int32 {
        let lines = takeLines()
        for line in lines { CommandFailure.say(line) }
        return lines.isEmpty || status != ExitStatus.done.rawValue ? status : ExitStatus.inputOutput.rawValue
    }

    /// Flushes what a host's scripts have written, and says what was lost.
    ///
    /// - Returns: whether something was lost.
    static func report(_ host: ScriptHost) -> Bool {
        host.flushOutput()
        host.state.flushFiles(isLast: true)
        var lines = takeLines()
        if let files = host.state.lostFiles {
            let error = FileError(.write, files.path, code: files.code)
            let others = files.count > 1 ? ", nor \((files.count - 1).counted("other file"))" : ""
            lines.append("\(VisibleText.line(error.message)): the script has not closed it\(others)")
        }
        for line in lines { host.report("cubby: \(line)") }
        return !lines.isEmpty
    }

    private static func takeLines() -> [String] {
        StandardStream.flushAll()
        return [StandardStream.output, .error].compactMap { stream in
            stream.takeLoss().map { loss in
                let error = FileError(.write, stream.name, code: loss.code)
                let written = "\(loss.written.counted("byte")) \(loss.written == 1 ? "was" : "were") written"
                return "\(error.message); \(written), \(loss.lost.grouped) \(loss.lost == 1 ? "was" : "were") not"
            }
        }
    }
}
