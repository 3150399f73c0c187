import Application
import Files
import Logging
import Lua

/// Starts the programs that scripts may run: shell commands, or granted programs by name, if their files are unchanged.
final class ProgramStarter {
    private var grants: [ProgramGrant]
    private var known: [ProgramFile.Stamp: String] = [:]
    /// Whether a program was refused because its file has changed.
    private(set) var hasRefusedChange = false

    init(_ grants: [ProgramGrant]) { self.grants = grants }

    /// Starts a command.
    ///
    /// - Parameters:
    ///   - command: the script's text.
    ///   - function: the script's function, for errors.
    ///   - host: the host.
    ///   - input: the program's standard input; the host's own if not given.
    ///   - output: its standard output.
    /// - Returns: the program.
    /// - Throws: `FileError` when it cannot be started, `LuaError` when it is not granted.
    func start(
        _ command: String, for function: String, in host: ScriptHost, input: Int32? = nil, output: Int32? = nil
    ) throws -> ChildProcess {
        // What the script has written precedes the program's output, and is in the files that it reads.
        host.output.flush()
        let folder = closedFolder(host)
        if host.options.allowsRunning {
            return try ChildProcess(["/bin/sh", "-c", command], closing: folder, input: input, output: output)
        }
        guard !grants.isEmpty else {
            throw LuaError(
                .runtime,
                "\(function) starts a program, which the sandbox does not grant; --allow-run does, or cubby config grant run PROGRAM for one by its name"
            )
        }
        let words = try CommandWords.split(command, for: function)
        guard let index = index(of: words.first ?? "", in: host) else {
            throw refusal(of: words.first ?? "", function, host)
        }
        let file = try ProgramFile(grants[index].path, known: known)
        if file.isSettled { known[file.stamp] = file.digest }
        if file.digest != grants[index].digest { try approve(file, index, function, host) }
        // A program of many names is the one that was granted, whichever way the script has written it.
        return try ChildProcess(
            [grants[index].name] + words.dropFirst(), program: file, closing: folder, input: input, output: output)
    }

    /// The configuration's folder, unless the kernel's fence already closes it to programs.
    private func closedFolder(_ host: ScriptHost) -> ClosedFolder? {
        guard let path = ConfigurationFolder.locate() else { return nil }
        guard host.fences.kernelABI != nil else { return ClosedFolder(path) }
        let roots = [host.container.path] + host.options.writable + LandlockRules.host.devices
        return ClosedFolder(
            path, within: roots.map { RealPath.ofExistingPart(of: PathText.absolute($0, from: host.fence.base)) })
    }

    /// The grant of a name, or of the path by which it was granted.
    private func index(of word: String, in host: ScriptHost) -> Int? {
        guard word.contains("/") else { return grants.firstIndex { $0.name == word } }
        let path = PathText.absolute(word, from: host.fence.base)
        return grants.firstIndex { $0.spelling == path }
    }

    /// The error for a word that is not a grant, with the grant of the same file if there is one.
    private func refusal(of word: String, _ function: String, _ host: ScriptHost) -> LuaError {
        let path = word.contains("/") ? try? RealPath.of(PathText.absolute(word, from: host.fence.base)) : nil
        if let path, let grant = grants.first(where: { $0.path == path }) {
            return LuaError(
                .runtime,
                "\(function): '\(word)' is the file of \(grant.name), which is granted by that name and as \(DisplayPath.abbreviate(grant.spelling)): start it by one of these"
            )
        }
        return LuaError(
            .runtime,
            "\(function) starts programs that are granted by name, and '\(word)' is none of them; cubby config grant run grants it"
        )
    }

    /// Requests the user's approval of a changed file.
    private func approve(_ file: ProgramFile, _ index: Int, _ function: String, _ host: ScriptHost) throws {
        var grant = grants[index]
        guard host.options.isInteractive, host.fences.kernelABI == nil,
            host.activeFrontEnd?.consent(toChanged: grant) == true
        else {
            hasRefusedChange = true
            throw LuaError(
                .runtime,
                "\(function): \(DisplayPath.abbreviate(grant.path)) has changed since it was granted; cubby --container \(host.container.displayPath) config grant run \(grant.name) approves it as it is now"
            )
        }
        grant.digest = file.digest
        grants[index] = grant
        do { try host.options.programApproved?(grant) } catch {
            host.logger.warning("The approval is not kept: \(error)")
        }
    }
}
